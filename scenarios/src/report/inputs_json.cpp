#include "scenarios/src/report/inputs_json.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

#include "scenarios/src/base/format.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/schema.h"
#include "topology/chips/efficiency.h"
#include "topology/lattice/shape.h"

namespace podsim::scenarios {
namespace {

/// True if the source says that it is an assumption, or that nothing was measured.
bool is_assumption(std::string_view source) {
    return source.starts_with("assumption") || source.starts_with("not measured") ||
           source.starts_with("no measurement");
}

Json row(std::string_view name, const std::string& value, std::string_view source, bool assumed,
         std::string_view meaning = {}) {
    return {{"name", name},
            {"value", value},
            {"source", source},
            {"assumed", assumed},
            {"meaning", meaning}};
}

std::string text_of_node(const YamlNode& node) {
    std::vector<std::string> parts;
    switch (node.kind) {
        case YamlNode::Kind::null:
            return "null";
        case YamlNode::Kind::scalar:
            return node.text;
        case YamlNode::Kind::sequence:
            for (const YamlNode& item : node.items) {
                parts.push_back(text_of_node(item));
            }
            return fmt::format("[{}]", fmt::join(parts, ", "));
        case YamlNode::Kind::map:
            break;
    }
    for (const YamlNode::Entry& entry : node.entries) {
        parts.push_back(fmt::format("{}: {}", entry.key, text_of_node(entry.value)));
    }
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

const YamlNode* node_at(const YamlNode& tree, std::string_view path) {
    const YamlNode* node = &tree;
    while (node != nullptr && !path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        node = node->find(path.substr(0, dot));
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return node;
}

/// Adds the values that the scenario gives, leaf by leaf.
void add_given(const YamlNode& node, const std::string& path, Json& rows) {
    const KeySpec* const key = find_key(path);
    if (node.kind == YamlNode::Kind::map && (path.empty() || key != nullptr)) {
        for (const YamlNode::Entry& entry : node.entries) {
            add_given(entry.value, path.empty() ? entry.key : path + '.' + entry.key, rows);
        }
        return;
    }
    if (!path.starts_with("expect") && path != "name") {
        rows.push_back(row(path, text_of_node(node), "the scenario", false,
                           key == nullptr ? std::string_view() : key->meaning));
    }
}

/// True if the scenario could have given the key: its section is there, or is one of every
/// scenario.
bool is_open(const YamlNode& tree, std::string_view path) {
    const std::string_view parent = path.substr(0, path.rfind('.'));
    if (parent == "training") {
        return tree.find("inference") == nullptr;
    }
    const YamlNode* const section = node_at(tree, parent);
    return parent == "overlap" || (section != nullptr && section->kind == YamlNode::Kind::map);
}

Json defaults_json(const YamlNode& tree) {
    constexpr std::string_view kSections[] = {"hardware.", "model.", "inference.", "training.",
                                              "overlap."};
    Json rows = Json::array();
    for (const KeySpec& key : schema()) {
        const bool of_a_section = std::ranges::any_of(
            kSections, [&](std::string_view section) { return key.path.starts_with(section); });
        const bool without_value = key.fallback == "none" || key.fallback == "required" ||
                                   key.fallback == "of the base" ||
                                   (key.accepts & (kText | kList)) == 0;
        if (of_a_section && !without_value && is_open(tree, key.path) &&
            node_at(tree, key.path) == nullptr) {
            rows.push_back(
                row(key.path, std::string(key.fallback), "podsim’s default", true, key.meaning));
        }
    }
    return rows;
}

/// Returns the chip's data. The source of a value that `tree` changes is the scenario.
Json chip_json(const Hardware& hardware, const YamlNode& tree) {
    const topology::ChipSpec& chip = hardware.chip;
    Json rows = Json::array();
    const auto add = [&](std::string_view name, const std::string& value,
                         const std::string& source) {
        const bool changed = node_at(tree, fmt::format("hardware.chip.{}", name)) != nullptr;
        rows.push_back(
            row(name, value, changed ? "the scenario" : source, !changed && is_assumption(source)));
    };
    const auto flops = [&](std::string_view name, const auto& datum) {
        if (datum.value.value() > 0) {
            add(name, format_flops_rate(datum.value), datum.source);
        }
    };
    const auto rate = [&](std::string_view name, const auto& datum) {
        add(name, format_rate(datum.value), datum.source);
    };
    const auto latency = [&](std::string_view name, const auto& datum) {
        add(name, format_time(datum.value.value()), datum.source);
    };
    flops("bf16_flops", chip.bf16_flops);
    flops("int8_ops", chip.int8_ops);
    flops("fp8_flops", chip.fp8_flops);
    flops("vpu_flops", chip.vpu_flops);
    add("mxu", std::to_string(chip.mxu_dimension.value), chip.mxu_dimension.source);
    add("vmem", format_bytes(chip.vmem.value), chip.vmem.source);
    add("hbm_capacity", format_bytes(chip.hbm_capacity.value), chip.hbm_capacity.source);
    add("hbm_reserved", format_bytes(chip.hbm_reserved.value), chip.hbm_reserved.source);
    rate("hbm_bandwidth", chip.hbm_bandwidth);
    rate("ici_one_way", hardware.ici_rates == topology::IciRates::book ? chip.ici_one_way_book
                                                                       : chip.ici_one_way_vendor);
    latency("ici_latency", chip.ici_latency);
    rate("pcie_one_way", chip.pcie_one_way);
    latency("pcie_latency", chip.pcie_latency);
    rate("dcn_per_host", chip.dcn_per_host);
    latency("dcn_latency", chip.dcn_latency);
    latency("collective_launch", chip.collective_launch);
    return rows;
}

Json profile_json(const Hardware& hardware) {
    Json rows = Json::array();
    const bool newest =
        hardware.profile == "measured" && hardware.profile_version == topology::kMeasuredVersion;
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        std::string source(newest
                               ? topology::efficiency_source(hardware.catalogue_name(), factor.name)
                               : fmt::format("profile {}", hardware.profile));
        if (const std::string elsewhere = measured_elsewhere(hardware, factor.name);
            !elsewhere.empty()) {
            source += "; " + elsewhere;
        }
        rows.push_back(row(factor.name, fmt::format("{:g}", hardware.efficiency.*(factor.value)),
                           source, is_assumption(source)));
    }
    return rows;
}

}  // namespace

Json inputs_json(const Scenario& scenario, const YamlNode& tree) {
    Json given = Json::array();
    add_given(tree, "", given);
    Json groups = Json::array();
    const auto add = [&](const std::string& group, Json rows) {
        if (!rows.empty()) {
            groups.push_back({{"group", group}, {"rows", std::move(rows)}});
        }
    };
    add("The scenario", std::move(given));
    add("Left to podsim’s defaults", defaults_json(tree));
    add(fmt::format("The chip {}", scenario.hardware.chip.name),
        chip_json(scenario.hardware, tree));
    if (scenario.hardware.profile != "ideal") {
        add(fmt::format("Fractions of its rates that it reaches: profile {}",
                        profile_label(scenario.hardware)),
            profile_json(scenario.hardware));
    }
    return groups;
}

}  // namespace podsim::scenarios
