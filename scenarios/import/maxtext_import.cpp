#include "scenarios/import/maxtext_import.h"

#include <fmt/format.h>

namespace podsim::scenarios {

MaxTextImport import_maxtext(MaxTextSettings& settings, const std::string& title) {
    MaxTextImport result;
    const MaxTextMachine machine = maxtext_machine(settings);
    result.scenario = fmt::format(
        "name: {}\nhardware: {{chip: {}, slice: {}{}}}\n", title, machine.chip, machine.slice,
        machine.slices > 1 ? fmt::format(", slices: {}", machine.slices) : "");
    const MaxTextModel model = maxtext_model(settings, result.notes);
    result.scenario += fmt::format("model: {}\n", model.text);
    const MaxTextBatch batch = maxtext_batch(settings, machine);
    result.scenario += fmt::format("batch: {{tokens: {}, sequence: {}}}\n",
                                   batch.micro * batch.steps * batch.sequence, batch.sequence);
    const MaxTextMesh mesh = maxtext_mesh(settings, machine, model, result.notes);
    result.scenario += mesh.text;
    result.scenario += maxtext_training(
        settings, model, mesh,
        maxtext_microbatches(settings, batch, model, mesh.stages, result.notes), result.notes);
    maxtext_not_modelled(settings);
    return result;
}

}  // namespace podsim::scenarios
