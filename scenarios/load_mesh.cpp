// The device mesh of a scenario, and the group of a collective.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/load.h"
#include "scenarios/load_parts.h"
#include "scenarios/quantity_text.h"
#include "scenarios/text.h"

namespace podsim::scenarios {
namespace {

using topology::AxisFactor;
using topology::DeviceMesh;
using topology::Lattice;
using topology::LogicalAxis;

bool is_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// All of the slice on one logical axis.
LogicalAxis whole_slice(std::string name, const Lattice& slice) {
    LogicalAxis axis{std::move(name), {}};
    for (int a = 0; a < topology::kAxes; ++a) {
        if (slice.length(a) > 1) {
            axis.factors.push_back({a, 1, slice.length(a)});
        }
    }
    return axis;
}

DeviceMesh mesh_of_sizes(const Reader& mesh, const Lattice& slice) {
    std::vector<std::pair<std::string, int>> sizes;
    for (const YamlNode::Entry& entry : mesh.node().entries) {
        sizes.emplace_back(entry.key, static_cast<int>(mesh[entry.key].whole(1, kMostChips, 1)));
    }
    return topology::choose_mesh(slice, sizes);
}

DeviceMesh mesh_of_factors(const Reader& mesh, const Lattice& slice) {
    std::vector<LogicalAxis> axes;
    for (const YamlNode::Entry& entry : mesh.node().entries) {
        const Reader place = mesh[entry.key];
        if (entry.value.text == "1") {
            continue;
        }
        if (is_number(entry.value.text)) {
            throw place.error(fmt::format("the size {} beside axes with factors", entry.value.text),
                              "write factors for every axis, or sizes for every axis");
        }
        axes.push_back({entry.key, place.read([&](const std::string& text) {
                            return topology::parse_factors(text, slice);
                        })});
    }
    return {slice, std::move(axes)};
}

/// The factors that, with those of the group, tile every axis of the slice.
std::vector<AxisFactor> complement(std::vector<AxisFactor> group, const Lattice& slice) {
    std::ranges::sort(group, {}, [](const AxisFactor& f) { return std::pair(f.axis, f.stride); });
    std::vector<AxisFactor> rest;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        int stride = 1;
        for (const AxisFactor& factor : group) {
            if (factor.axis != axis || factor.length == 1) {
                continue;
            }
            if (factor.stride < stride || factor.stride % stride != 0) {
                throw sim::InputError(fmt::format("the axis {} is used twice",
                                                  topology::to_string(factor, slice.length(axis))),
                                      "name every axis or factor once");
            }
            if (factor.stride > stride) {
                rest.push_back({axis, stride, factor.stride / stride});
            }
            stride = factor.stride * factor.length;
        }
        if (slice.length(axis) > stride) {
            rest.push_back({axis, stride, slice.length(axis) / stride});
        }
    }
    return rest;
}

}  // namespace

DeviceMesh read_mesh(const Reader& mesh, const Lattice& slice) {
    if (!mesh.present() || mesh.node().entries.empty()) {
        return {slice, {whole_slice("fsdp", slice)}};
    }
    try {
        const bool sizes = std::ranges::all_of(
            mesh.node().entries,
            [](const YamlNode::Entry& entry) { return is_number(entry.value.text); });
        return sizes ? mesh_of_sizes(mesh, slice) : mesh_of_factors(mesh, slice);
    } catch (const sim::InputError& error) {
        throw mesh.located(error);
    }
}

std::string mesh_text(const DeviceMesh& mesh, const Lattice& slice) {
    std::vector<std::string> axes;
    for (const LogicalAxis& axis : mesh.axes()) {
        std::string text = axis.name;
        for (const AxisFactor& factor : axis.factors) {
            if (factor.length > 1) {
                text += ' ' + topology::to_string(factor, slice.length(factor.axis));
            }
        }
        axes.push_back(axis.size() == 1 ? axis.name + " 1" : text);
    }
    return fmt::format("{}", fmt::join(axes, ", "));
}

std::vector<AxisFactor> parse_group(const std::string& text, const Lattice& slice) {
    std::vector<AxisFactor> group;
    std::size_t start = 0;
    while ((start = text.find_first_not_of(' ', start)) != std::string::npos) {
        const std::size_t end = std::min(text.find(' ', start), text.size());
        const std::string token = text.substr(start, end - start);
        if (token.find_first_not_of("xyz") == std::string::npos) {
            for (const char letter : token) {
                group.push_back(topology::parse_factor(std::string(1, letter), slice));
            }
        } else {
            group.push_back(topology::parse_factor(printable(token), slice));
        }
        start = end;
    }
    if (group.empty()) {
        throw sim::InputError("no axis is named",
                              "write axes such as xyz, or factors such as x%4 y");
    }
    std::vector<AxisFactor> rest = complement(group, slice);
    return DeviceMesh(slice, {{"group", std::move(group)}, {"rest", std::move(rest)}})
        .group({"group"});
}

}  // namespace podsim::scenarios
