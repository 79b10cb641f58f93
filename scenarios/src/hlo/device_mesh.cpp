#include "scenarios/src/hlo/device_mesh.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

using workloads::hlo::DeviceAxes;
using Sizes = std::vector<std::pair<std::string, int>>;

void check_count(const HloInput& input, const IdealHardware& hardware) {
    if (input.devices == hardware.chips()) {
        return;
    }
    const int cores = hardware.chip.devices.value;
    const bool by_cores = cores > 1 && input.devices == std::int64_t{hardware.chips()} * cores;
    throw sim::InputError(
        fmt::format("the module runs on {} devices, the slice has {} chips", input.devices,
                    hardware.chips()),
        by_cores ? "podsim plays one device a chip: lower the module for whole chips"
                 : "give a slice of as many chips; --devices says how many there are where the "
                   "module does not",
        {input.module.file, input.module.line, 1});
}

/// Cuts the factors of an axis into axes of these sizes. All are ordered slowest first.
std::vector<std::vector<topology::AxisFactor>> cut(const std::string& name,
                                                   std::vector<topology::AxisFactor> factors,
                                                   const std::vector<std::int64_t>& sizes) {
    std::vector<std::vector<topology::AxisFactor>> parts(sizes.size());
    std::erase_if(factors, [](const topology::AxisFactor& factor) { return factor.length == 1; });
    for (std::size_t i = sizes.size(); i-- > 0;) {
        std::int64_t left = sizes[i];
        while (left > 1 && !factors.empty()) {
            topology::AxisFactor& fastest = factors.back();
            if (left % fastest.length == 0) {
                parts[i].insert(parts[i].begin(), fastest);
                left /= fastest.length;
                factors.pop_back();
            } else if (fastest.length % left == 0) {
                const auto length = static_cast<int>(left);
                parts[i].insert(parts[i].begin(), {fastest.axis, fastest.stride, length});
                fastest.stride *= length;
                fastest.length /= length;
                left = 1;
            } else {
                throw sim::InputError(
                    fmt::format("the module's groups take {} members of mesh axis '{}' together, "
                                "which do not divide a factor of {} chips",
                                sizes[i], name, fastest.length),
                    "give a mesh along whose axes they lie");
            }
        }
    }
    return parts;
}

std::vector<topology::LogicalAxis> parts_of(const DeviceAxes& axes,
                                            const std::vector<topology::LogicalAxis>& laid) {
    std::vector<topology::LogicalAxis> all;
    for (std::size_t i = 0; i < laid.size(); ++i) {
        const std::vector<std::size_t>& numbers = axes.parts()[i];
        std::vector<std::int64_t> sizes;
        sizes.reserve(numbers.size());
        for (const std::size_t number : numbers) {
            sizes.push_back(axes.axes()[number].size);
        }
        const auto parts = cut(laid[i].name, laid[i].factors, sizes);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            all.push_back({axes.axes()[numbers[part]].name, parts[part]});
        }
    }
    return all;
}

topology::DeviceMesh as_jax(const IdealHardware& hardware, const Sizes& sizes) {
    topology::PlacingOrder order;
    for (const auto& [name, size] : sizes) {
        order.slices.push_back(name);
    }
    return topology::map_mesh_as_jax(hardware.slice, sizes, order, true, hardware.slices,
                                     hardware.chip.name);
}

/// Returns the axes in the order of `sizes`; JAX's mapping may list them in another.
std::vector<topology::LogicalAxis> in_order(const topology::DeviceMesh& mesh, const Sizes& sizes) {
    std::vector<topology::LogicalAxis> all;
    for (const auto& [name, size] : sizes) {
        const auto found = std::ranges::find(mesh.axes(), name, &topology::LogicalAxis::name);
        all.push_back(found == mesh.axes().end() ? topology::LogicalAxis{name, {}} : *found);
    }
    return all;
}

}  // namespace

PlacedDevices place_devices(const HloInput& input, const IdealHardware& hardware,
                            const MeshText& mesh) {
    check_count(input, hardware);
    std::vector<topology::LogicalAxis> given;
    Sizes sizes;
    for (const auto& [name, text] : mesh) {
        if (is_number(text)) {
            sizes.emplace_back(name, static_cast<int>(std::min<std::int64_t>(parse_count(text),
                                                                             hardware.chips())));
        } else {
            given.push_back({name, topology::parse_factors(text, hardware.slice, hardware.slices)});
        }
    }
    if (!sizes.empty() && !given.empty()) {
        throw sim::InputError("a mesh has sizes or factors, not both",
                              "write `data: 4, fsdp: 16` or `data: x, fsdp: y`");
    }
    const bool seen = mesh.empty();
    if (seen) {
        const DeviceAxes groups(input.module, input.devices, {});
        for (const auto& axis : groups.axes()) {
            sizes.emplace_back(axis.name, static_cast<int>(axis.size));
        }
    }
    std::vector<std::string> unlike;
    if (given.empty()) {
        const topology::DeviceMesh mapped = as_jax(hardware, sizes);
        unlike = topology::unlike_jax(mapped, hardware.slice, hardware.chip.name);
        given = in_order(mapped, sizes);
    }
    std::vector<std::pair<std::string, std::int64_t>> axes;
    axes.reserve(given.size());
    for (const topology::LogicalAxis& axis : given) {
        axes.emplace_back(axis.name, axis.size());
    }
    DeviceAxes placed(input.module, input.devices, axes);
    topology::DeviceMesh of_parts(hardware.slice, parts_of(placed, given), hardware.slices);
    return {std::move(placed), std::move(of_parts), seen, std::move(unlike)};
}

}  // namespace podsim::scenarios
