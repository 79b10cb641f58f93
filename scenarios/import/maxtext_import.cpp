#include "scenarios/import/maxtext_import.h"

#include <fmt/format.h>
#include <sstream>

#include "scenarios/maxtext/maxtext_not_modelled.h"

namespace podsim::scenarios {
namespace {

/// `, core_clock: 1.125`, of the last xla_tpu_dvfs_p_state among the flags of XLA, which are otherwise not read. tpu7x has states 0 to 7 and
/// begins in 3. One step of 295B on 64 chips took 23.539, 22.438 and 21.670 s in 3, 5 and 7, and one of a diffusion model that computes all
/// the time 21.18 s in 3 and 18.82 s in 7: a ratio of 1.125, with which 16.8 s of the first go by the clock, so that 5 is 1.07 of 3.
/// Source: yangwhale/gpu-tpu-pedia @3fa9ce1, tpu/Hunyuan3-295B-Pretraining/EXPERIMENT-LOG.md, "DVFS".
std::string maxtext_core_clock(MaxTextSettings& settings, const MaxTextMachine& machine) {
    std::string state;
    std::string said;
    for (const char* const key : {"compile_xla_flags", "LIBTPU_INIT_ARGS"}) {
        if (!settings.has(key)) {
            continue;
        }
        std::istringstream flags(settings.text(key, ""));
        for (std::string flag; flags >> flag;) {
            const std::string name = "--xla_tpu_dvfs_p_state=";
            if (flag.starts_with(name)) {
                state = flag.substr(name.size());
                said = key;
            }
        }
    }
    if (state.empty() || (machine.chip == "tpu7x" && state == "3")) {
        return {};
    }
    if (machine.chip == "tpu7x" && (state == "5" || state == "7")) {
        return state == "5" ? ", core_clock: 1.07" : ", core_clock: 1.125";
    }
    settings.cannot(said, fmt::format("the clock in P-state {} of {} is not known: "
                                      "hardware.core_clock says it",
                                      state, machine.chip));
    return {};
}

}  // namespace

std::string maxtext_defaults_text(const MaxTextSettings& settings) {
    const std::size_t count = settings.taken().size();
    if (settings.is_whole() || count == 0) {
        return {};
    }
    return fmt::format(
        "the file is no whole base.yml: {} key{} that it does not have {} as MaxText of 2023 did "
        "without; those of your base.yml may differ: import that file, or write `base_config: "
        "base.yml` into this one",
        count, count == 1 ? "" : "s", count == 1 ? "is taken" : "are taken");
}

MaxTextImport import_maxtext(MaxTextSettings& settings, const std::string& title) {
    MaxTextImport result;
    const MaxTextMachine machine = maxtext_machine(settings);
    result.scenario = fmt::format(
        "name: {}\nhardware: {{chip: {}, slice: {}{}{}}}\n", title, machine.chip, machine.slice,
        machine.slices > 1 ? fmt::format(", slices: {}", machine.slices) : "",
        maxtext_core_clock(settings, machine));
    const MaxTextModel model = maxtext_model(settings, result.notes);
    result.scenario += fmt::format("model: {}\n", model.text);
    const MaxTextBatch batch = maxtext_batch(settings, machine);
    result.scenario += fmt::format("batch: {{tokens: {}, sequence: {}}}\n",
                                   batch.micro * batch.steps * batch.sequence, batch.sequence);
    const MaxTextMesh mesh = maxtext_mesh(settings, machine, model, result.notes);
    result.scenario += mesh.text;
    result.scenario += maxtext_training(settings, machine, model, batch, mesh, result.notes);
    maxtext_not_modelled(settings);
    if (const std::string text = maxtext_defaults_text(settings); !text.empty()) {
        result.notes.push_back(text);
    }
    return result;
}

}  // namespace podsim::scenarios
