#include "scenarios/import/maxtext_import.h"

#include <cmath>
#include <fmt/format.h>

namespace podsim::scenarios {
namespace {

std::string batch(MaxTextSettings& settings, const MaxTextMachine& machine) {
    const double per_device = settings.number("per_device_batch_size", 12);
    const std::int64_t sequence = settings.whole("max_target_length", 1, 2048);
    const auto devices = static_cast<double>(machine.devices() * machine.slices);
    const double sequences =
        std::floor(per_device * devices) *
        static_cast<double>(settings.whole("gradient_accumulation_steps", 1, 1));
    if (!(sequences >= 1 && sequences <= 1e9)) {
        settings.refuse(
            "per_device_batch_size",
            fmt::format("{} on {} devices is no number of sequences", per_device, devices),
            "a step has at least one sequence");
    }
    return fmt::format("batch: {{tokens: {}, sequence: {}}}\n",
                       static_cast<std::int64_t>(sequences) * sequence, sequence);
}

}  // namespace

MaxTextImport import_maxtext(MaxTextSettings& settings, const std::string& title) {
    MaxTextImport result;
    const MaxTextMachine machine = maxtext_machine(settings);
    result.scenario = fmt::format(
        "name: {}\nhardware: {{chip: {}, slice: {}{}}}\n", title, machine.chip, machine.slice,
        machine.slices > 1 ? fmt::format(", slices: {}", machine.slices) : "");
    result.scenario += fmt::format("model: {}\n", maxtext_model(settings, result.notes));
    result.scenario += batch(settings, machine);
    result.scenario += maxtext_mesh(settings, machine, result.notes);
    result.scenario += maxtext_training(settings, result.notes);
    return result;
}

}  // namespace podsim::scenarios
