#include "scenarios/judge/draft.h"

#include <fmt/format.h>
#include <optional>

#include "scenarios/load/load.h"
#include "scenarios/simulate/estimate_step.h"
#include "sim/base/error.h"
#include "topology/chips/chip.h"
#include "topology/chips/slice_names.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

constexpr int kSequence = 2048;

/// A slice that says its chip says all.
std::string hardware_text(const std::string& chip, const std::string& slice) {
    if (chip.empty()) {
        return fmt::format("  slice: {}        # {}\n", slice, topology::describe_named(slice));
    }
    return fmt::format(
        "  chip: {}          # podsim list chips\n"
        "  slice: {}        # chips along each axis\n",
        chip, slice);
}

std::string text_of(const std::string& chip, const std::string& slice, const std::string& model,
                    int chips, int tensor) {
    const std::string mesh = tensor == 1
                                 ? fmt::format("{{fsdp: {}}}", chips)
                                 : fmt::format("{{fsdp: {}, tensor: {}}}", chips / tensor, tensor);
    return fmt::format(
        "# Written by podsim init. podsim help KEY says what a key means, podsim show FILE all "
        "that are not here.\n"
        "name: {model} on {machine}\n"
        "hardware:\n"
        "{hardware}"
        "model: {model}          # podsim list models, a map, or {{hf_config: path/config.json}}\n"
        "batch:\n"
        "  tokens: {tokens}      # of all chips together: one sequence a chip\n"
        "  sequence: {sequence}\n"
        "mesh: {mesh}            # sizes, or axes as in {{fsdp: x y, tensor: z}}\n"
        "training:\n"
        "  remat: full           # what the backward pass recomputes: podsim list remat\n"
        "overlap:\n"
        "  prefetch_layers: 1    # how far weight gathers run ahead\n",
        fmt::arg("model", model), fmt::arg("machine", chip.empty() ? slice : chip + ' ' + slice),
        fmt::arg("hardware", hardware_text(chip, slice)),
        fmt::arg("tokens", std::int64_t{chips} * kSequence), fmt::arg("sequence", kSequence),
        fmt::arg("mesh", mesh));
}

std::string host_of(const topology::ChipSpec& chip) {
    return topology::to_string(chip.host_shape.value, chip.torus_dimensions.value);
}

}  // namespace

Draft draft_scenario(const std::string& chip, const std::string& slice, const std::string& model) {
    static_cast<void>(workloads::find_model(model));
    const std::string shape = slice.empty() ? host_of(topology::find_chip(chip)) : slice;
    const IdealHardware hardware = hardware_from_options({.chip = chip, .slice = shape});
    Draft best;
    double least = 0;
    std::optional<sim::InputError> refused;
    for (const int tensor : {1, 2, 4, 8}) {
        const int chips = hardware.chips();
        if (chips % tensor != 0) {
            continue;
        }
        std::string text = text_of(chip, shape, model, chips, tensor);
        try {
            const Scenario scenario = load_scenario(handed_over("", "draft.yaml", text, true));
            const OrderedMemory memory = memory_in_order(scenario, build_step_of(scenario));
            if (best.text.empty() || memory.fits || memory.peak.value() < least) {
                best = {.text = std::move(text), .fits = memory.fits};
                least = memory.peak.value();
            }
            if (memory.fits) {
                break;
            }
        } catch (const sim::InputError& error) {
            refused = refused.value_or(error);
        }
    }
    if (best.text.empty()) {
        throw sim::InputError(refused->problem(), "write the mesh by hand");
    }
    return best;
}

}  // namespace podsim::scenarios
