#include "scenarios/src/cli/guide.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

#include <nlohmann/json.hpp>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/estimate_step.h"
#include "sim/base/error.h"
#include "topology/chips/chip.h"
#include "topology/chips/slice_names.h"
#include "workloads/models/hf_config.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

constexpr int kSequence = 2048;

/// Returns the lines of `hardware`. A slice that names its chip needs no other line.
std::string hardware_text(const std::string& chip, const std::string& slice) {
    if (chip.empty()) {
        return fmt::format("  slice: {}        # {}\n", slice, topology::describe_named(slice));
    }
    return fmt::format(
        "  chip: {}          # podsim list chips\n"
        "  slice: {}        # chips along each axis\n",
        chip, slice);
}

/// Quotes a text as YAML and JSON do. Throws sim::InputError if it is not UTF-8.
std::string double_quoted(const std::string& text) {
    try {
        return nlohmann::json(text).dump();
    } catch (const nlohmann::json::type_error&) {
        throw sim::InputError(fmt::format("the path {} is no UTF-8", in_quotes(text)),
                              "give the config a name that a scenario can hold");
    }
}

std::string text_of(const std::string& chip, const std::string& slice, const std::string& name,
                    const std::string& model, int chips, int tensor) {
    const std::string mesh = tensor == 1
                                 ? fmt::format("{{fsdp: {}}}", chips)
                                 : fmt::format("{{fsdp: {}, tensor: {}}}", chips / tensor, tensor);
    std::string title = fmt::format("{} on {}", name, chip.empty() ? slice : chip + ' ' + slice);
    const bool plain = std::ranges::all_of(title, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == ' ' || c == '-' || c == '.' || c == '_' || c >= 0x80;
    });
    if (!plain || std::isalnum(static_cast<unsigned char>(title.front())) == 0) {
        title = double_quoted(title);
    }
    return fmt::format(
        "# Written by podsim init. podsim help KEY says what a key means, podsim show FILE all "
        "that are not here.\n"
        "name: {name}\n"
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
        fmt::arg("model", model), fmt::arg("name", title),
        fmt::arg("hardware", hardware_text(chip, slice)),
        fmt::arg("tokens", std::int64_t{chips} * kSequence), fmt::arg("sequence", kSequence),
        fmt::arg("mesh", mesh));
}

bool is_config(const std::string& model) {
    return model.ends_with(".json");
}

/// Returns the model's name; for a config that of its file, or of its folder if the file is
/// config.json. Throws sim::InputError if there is no such model.
std::string name_of(const std::string& model) {
    if (!is_config(model)) {
        return std::string(workloads::find_model(model).name);
    }
    static_cast<void>(workloads::read_hf_config(model));
    const std::filesystem::path path = std::filesystem::absolute(model);
    const std::filesystem::path stem = path.stem();
    return stem == "config" ? path.parent_path().filename() : stem;
}

/// Returns `model` as a scenario in `folder` names it.
std::string model_text(const std::string& model, const std::string& folder) {
    if (!is_config(model)) {
        return model;
    }
    const std::filesystem::path path =
        std::filesystem::path(model).is_absolute()
            ? std::filesystem::path(model)
            : std::filesystem::proximate(model, folder.empty() ? "." : folder);
    return fmt::format("{{hf_config: {}}}", double_quoted(path.string()));
}

std::string host_of(const topology::ChipSpec& chip) {
    return topology::to_string(chip.host_shape.value, chip.torus_dimensions.value);
}

}  // namespace

Draft draft_scenario(const std::string& given_chip, const std::string& slice,
                     const std::string& model, const std::string& folder) {
    const std::string name = name_of(model);
    const std::string shape = slice.empty() ? host_of(topology::find_chip(given_chip)) : slice;
    const IdealHardware hardware = hardware_from_options({.chip = given_chip, .slice = shape});
    const std::string chip = topology::is_slice_name(shape) ? "" : given_chip;
    Draft best;
    double least = 0;
    std::optional<sim::InputError> refused;
    for (const int tensor : {1, 2, 4, 8}) {
        const int chips = hardware.chips();
        if (chips % tensor != 0) {
            continue;
        }
        const std::string here = text_of(chip, shape, name, model_text(model, ""), chips, tensor);
        std::string text = text_of(chip, shape, name, model_text(model, folder), chips, tensor);
        try {
            const Scenario scenario = load_scenario(handed_over("", "draft.yaml", here, true));
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
