#include "scenarios/import/maxtext_import.h"

#include <fmt/format.h>
#include <sstream>

#include "scenarios/maxtext/maxtext_inference.h"
#include "scenarios/maxtext/maxtext_not_modelled.h"
#include "topology/chips/core_clocks.h"

namespace podsim::scenarios {
namespace {

/// `, core_clock: 1.125`, of the last xla_tpu_dvfs_p_state among the flags of XLA, which are otherwise not read (core_clocks.h).
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
    if (state.empty()) {
        return {};
    }
    const auto clocks = topology::core_clocks(machine.chip);
    if (!clocks) {
        settings.cannot(said, fmt::format("the clock in P-state {} of {} is not known: "
                                          "hardware.core_clock says it",
                                          state, machine.chip));
        return {};
    }
    const bool digit = state.size() == 1 && state.front() >= '0' && state.front() <= '9';
    const auto pace = topology::pace_in_state(*clocks, digit ? state.front() - '0' : -1);
    if (!pace) {
        settings.cannot(
            said, clocks->has_states()
                      ? fmt::format("P-state {}: {} has 0 to {}", state, machine.chip,
                                    clocks->ghz.size() - 1)
                      : fmt::format("P-state {}: {} has none, its cores run at {:g} GHz", state,
                                    machine.chip, clocks->usual_ghz()));
        return {};
    }
    return *pace == 1 ? "" : fmt::format(", core_clock: {:g}", *pace);
}

/// `report: {flop_rule: maxtext}`: what the TFLOP/s/device count that the version logs, which keys of its base.yml tell apart (maxtext_flops.h). Before
/// 2024-05-09 all parameters counted, and the masked half of attention. Of a few keys alone the newest.
std::string maxtext_report(MaxTextSettings& settings, std::vector<std::string>& notes) {
    const bool whole = settings.is_whole();
    const auto older_than = [&](const char* key) { return whole && !settings.has(key); };
    const std::string model = settings.text("model_name", "default");
    const bool of_block =
        model.starts_with("olmo3");  // its block is none of those that count windows
    const bool gemma3 = model.starts_with("gemma3");  // so was this until 2025-07-22
    std::string rule = of_block ? "maxtext_unwindowed" : "maxtext";
    if (older_than("ici_pipeline_parallelism")) {  // 2024-06-12
        rule = "masked_attention";
    } else if (older_than("use_qwix_quantization")) {  // 2025-07-31
        rule = of_block || gemma3 ? "maxtext_2024_unwindowed" : "maxtext_2024";
    } else if (older_than("weight_sparsity_m") && !of_block) {  // 2026-04-24
        rule = "maxtext_2025";
    }
    if (rule.ends_with("unwindowed")) {
        notes.push_back(fmt::format(
            "MaxText's TFLOP/s and MFU of this model count attention as if it had no "
            "windows: report.flop_rule {} does so, too; executed counts what they leave",
            rule));
    }
    return fmt::format("report: {{flop_rule: {}}}\n", rule);
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
    refuse_maxtext_inference(settings);
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
    result.scenario += maxtext_report(settings, result.notes);
    maxtext_not_modelled(settings);
    if (const std::string text = maxtext_defaults_text(settings); !text.empty()) {
        result.notes.push_back(text);
    }
    return result;
}

}  // namespace podsim::scenarios
