// Reads the device mesh of a scenario, and the group of a collective.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/load_parts.h"
#include "workloads/plan/axes.h"

namespace podsim::scenarios {
namespace {

using topology::AxisFactor;
using topology::DeviceMesh;
using topology::Lattice;
using topology::LogicalAxis;

/// Puts the whole slice on one logical axis.
LogicalAxis whole_slice(std::string name, const Lattice& slice) {
    LogicalAxis axis{std::move(name), {}};
    for (int a = 0; a < topology::kAxes; ++a) {
        if (slice.length(a) > 1) {
            axis.factors.push_back({a, 1, slice.length(a)});
        }
    }
    return axis;
}

/// The rule by which sizes are mapped to physical axes.
enum class Mapping { podsim, jax, jax_split };

constexpr std::pair<std::string_view, Mapping> kMappings[] = {
    {"podsim", Mapping::podsim}, {"jax", Mapping::jax}, {"jax_split", Mapping::jax_split}};

DeviceMesh mesh_of_sizes(const Reader& mesh, Mapping mapping, const Hardware& hardware) {
    std::vector<std::pair<std::string, int>> sizes;
    for (const YamlNode::Entry& entry : mesh.node().entries) {
        sizes.emplace_back(entry.key, static_cast<int>(mesh[entry.key].whole(1, kMostChips, 1)));
    }
    return mapping == Mapping::podsim
               ? topology::choose_mesh(hardware.slice, sizes, workloads::placing_order(),
                                       hardware.slices)
               : topology::map_mesh_as_jax(hardware.slice, sizes, workloads::placing_order(),
                                           mapping == Mapping::jax_split, hardware.slices,
                                           hardware.catalogue_name());
}

DeviceMesh mesh_of_factors(const Reader& mesh, const Hardware& hardware) {
    std::vector<LogicalAxis> axes;
    for (const YamlNode::Entry& entry : mesh.node().entries) {
        const Reader place = mesh[entry.key];
        if (entry.value.text == "1") {
            continue;
        }
        if (is_number(entry.value.text)) {
            place.refuse(fmt::format("the size {} beside axes with factors", entry.value.text),
                         "write factors for every axis, or sizes for every axis");
            continue;
        }
        axes.push_back({entry.key, place.read([&](const std::string& text) {
                            return topology::parse_factors(text, hardware.slice, hardware.slices);
                        })});
    }
    return {hardware.slice, std::move(axes), hardware.slices};
}

/// Returns the factors that, with those of the group, tile every axis of the slice.
std::vector<AxisFactor> complement(std::vector<AxisFactor> group, const Lattice& slice,
                                   int slices) {
    std::ranges::sort(group, {}, [](const AxisFactor& f) { return std::pair(f.axis, f.stride); });
    std::vector<AxisFactor> rest;
    for (int axis = 0; axis <= topology::kSliceAxis; ++axis) {
        const int length = axis == topology::kSliceAxis ? slices : slice.length(axis);
        int stride = 1;
        for (const AxisFactor& factor : group) {
            if (factor.axis != axis || factor.length == 1) {
                continue;
            }
            if (factor.stride < stride || factor.stride % stride != 0) {
                throw sim::InputError(
                    fmt::format("the axis {} is used twice", topology::to_string(factor, length)),
                    "name every axis or factor once");
            }
            if (factor.stride > stride) {
                rest.push_back({axis, stride, factor.stride / stride});
            }
            stride = factor.stride * factor.length;
        }
        if (length > stride) {
            rest.push_back({axis, stride, length / stride});
        }
    }
    return rest;
}

}  // namespace

DeviceMesh read_mesh(const Reader& mesh, const Reader& mesh_mapping, const Hardware& hardware,
                     const char* whole) {
    const Mapping mapping = mesh_mapping.choose<Mapping>(kMappings, Mapping::podsim);
    const bool given = mesh.present() && !mesh.node().entries.empty();
    const bool sizes = given && std::ranges::all_of(mesh.node().entries, [](const auto& entry) {
                           return is_number(entry.value.text);
                       });
    if (mapping != Mapping::podsim && !sizes) {
        throw mesh_mapping.error("a mapping of sizes, but the mesh gives none",
                                 "write the size of every axis: mesh: {fsdp: 16, tensor: 4}");
    }
    if (!given) {
        std::vector<LogicalAxis> axes{whole_slice(whole, hardware.slice)};
        if (hardware.slices > 1) {
            axes.push_back({workloads::axis::data, {{topology::kSliceAxis, 1, hardware.slices}}});
        }
        return {hardware.slice, std::move(axes), hardware.slices};
    }
    try {
        return sizes ? mesh_of_sizes(mesh, mapping, hardware) : mesh_of_factors(mesh, hardware);
    } catch (const sim::InputError& error) {
        throw mesh.located(error);
    }
}

std::vector<std::string> mesh_axes(const DeviceMesh& mesh, const Hardware& hardware) {
    std::vector<std::string> axes;
    for (const LogicalAxis& axis : mesh.axes()) {
        std::vector<std::string> factors;
        for (const AxisFactor& factor : axis.factors) {
            if (factor.length > 1) {
                factors.push_back(
                    topology::to_string(factor, factor.axis == topology::kSliceAxis
                                                    ? hardware.slices
                                                    : hardware.slice.length(factor.axis)));
            }
        }
        axes.push_back(factors.empty() ? "1" : fmt::format("{}", fmt::join(factors, " ")));
    }
    return axes;
}

collectives::Members parse_members(const std::string& text, const Lattice& slice, int slices) {
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
            group.push_back(topology::parse_factor(printable(token), slice, slices));
        }
        start = end;
    }
    if (group.empty()) {
        throw sim::InputError("no axis is named",
                              "write axes such as xyz, or factors such as x%4 y");
    }
    std::vector<AxisFactor> rest = complement(group, slice, slices);
    const DeviceMesh mesh(slice, {{"group", std::move(group)}, {"rest", std::move(rest)}}, slices);
    return {mesh.group({"group"}), mesh.across({"group"})};
}

}  // namespace podsim::scenarios
