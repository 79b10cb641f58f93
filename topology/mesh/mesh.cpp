#include "topology/mesh/mesh.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "sim/base/error.h"
#include "topology/lattice/shape.h"

namespace podsim::topology {
namespace {

/// A factor and the logical axis that it belongs to.
struct OwnedFactor {
    AxisFactor factor;
    std::string owner;
};

std::string quoted(const OwnedFactor& owned, int axis_length) {
    return fmt::format("'{}' of '{}'", to_string(owned.factor, axis_length), owned.owner);
}

std::string name_of(int axis) {
    return axis == kSliceAxis ? "slice" : std::string(1, axis_name(axis));
}

int length_of(int axis, const Lattice& slice, int slices) {
    return axis == kSliceAxis ? slices : slice.length(axis);
}

void check_divides(const AxisFactor& factor, const std::string& owner, const Lattice& slice,
                   int slices) {
    if (factor.axis < 0 || factor.axis > kSliceAxis) {
        throw sim::InputError(
            fmt::format("logical axis '{}' names physical axis {}", owner, factor.axis),
            "physical axes are 0, 1, 2 for x, y, z, and 3 for the slices");
    }
    const int length = length_of(factor.axis, slice, slices);
    if (factor.stride < 1 || factor.length < 1 || length % factor.stride != 0 ||
        length / factor.stride % factor.length != 0) {
        throw sim::InputError(
            fmt::format(
                "a factor of '{}' (stride {}, length {}) does not divide axis {} of length {}",
                owner, factor.stride, factor.length, name_of(factor.axis), length),
            "stride x length must divide the length of the axis");
    }
}

/// Throws if factors of the axis (none of length 1, sorted by stride) overlap or do not line up.
void check_apart(int axis, const std::vector<OwnedFactor>& factors, int length) {
    for (std::size_t i = 1; i < factors.size(); ++i) {
        const OwnedFactor& before = factors[i - 1];
        const int next = before.factor.stride * before.factor.length;  // the stride that follows
        if (factors[i].factor.stride % next == 0) {
            continue;
        }
        const std::string rest =
            next == length ? std::string("nothing is left of the axis")
                           : fmt::format("the rest of the axis is '{}'",
                                         to_string(AxisFactor{axis, next, length / next}, length));
        const bool crossing = factors[i].factor.stride < next;
        throw sim::InputError(
            fmt::format("axis {} (length {}) is {}: {} and {} {}", name_of(axis), length,
                        crossing ? "used twice" : "not covered", quoted(before, length),
                        quoted(factors[i], length), crossing ? "overlap" : "do not line up"),
            fmt::format("each factor belongs to one logical axis; after '{}' {}",
                        to_string(before.factor, length), rest));
    }
}

/// Throws if factors of the axis that do not overlap leave a factor of it unused.
void check_complete(int axis, const std::vector<OwnedFactor>& factors, const Lattice& slice,
                    int slices, int mesh_size) {
    const int length = length_of(axis, slice, slices);
    int next = 1;
    for (std::size_t i = 0; i <= factors.size(); ++i) {
        const int stride = i < factors.size() ? factors[i].factor.stride : length;
        if (stride > next) {
            const std::string text = to_string(AxisFactor{axis, next, stride / next}, length);
            throw sim::InputError(
                fmt::format(
                    "factor '{}' of axis {} (length {}) is unused: the mesh spans {} of the "
                    "{} chips of {}",
                    text, name_of(axis), length, mesh_size, slice.size() * slices,
                    slices_text(slice, slices)),
                fmt::format("add '{}' to a logical axis", text));
        }
        next = stride * (i < factors.size() ? factors[i].factor.length : 1);
    }
}

}  // namespace

std::string to_string(const AxisFactor& factor, int axis_length) {
    std::string text = name_of(factor.axis);
    if (factor.stride != 1) {
        text += fmt::format("/{}", factor.stride);
    }
    if (factor.stride * factor.length != axis_length) {
        text += fmt::format("%{}", factor.length);
    }
    return text;
}

int LogicalAxis::size() const {
    int members = 1;
    for (const AxisFactor& factor : factors) {
        members *= factor.length;
    }
    return members;
}

std::string slices_text(const Lattice& slice, int slices) {
    return slices == 1 ? fmt::format("slice {}", to_string(slice.lengths))
                       : fmt::format("{} slices of {}", slices, to_string(slice.lengths));
}

DeviceMesh::DeviceMesh(const Lattice& slice, std::vector<LogicalAxis> axes, int slices)
    : axes_(std::move(axes)) {
    std::vector<std::string> names;
    std::array<std::vector<OwnedFactor>, kSliceAxis + 1> by_axis;
    for (const LogicalAxis& axis : axes_) {
        if (std::ranges::find(names, axis.name) != names.end()) {
            throw sim::InputError(fmt::format("logical axis '{}' comes twice", axis.name),
                                  "write its factors in one entry");
        }
        names.push_back(axis.name);
        for (const AxisFactor& factor : axis.factors) {
            check_divides(factor, axis.name, slice, slices);
            if (factor.length > 1) {
                by_axis[static_cast<std::size_t>(factor.axis)].push_back({factor, axis.name});
            }
        }
    }
    // Overlaps first, on all axes: a user who writes one axis twice has often forgotten another.
    int mesh_size = 1;
    for (int axis = 0; axis <= kSliceAxis; ++axis) {
        auto& factors = by_axis[static_cast<std::size_t>(axis)];
        std::ranges::stable_sort(factors, {}, [](const OwnedFactor& f) { return f.factor.stride; });
        check_apart(axis, factors, length_of(axis, slice, slices));
        for (const OwnedFactor& owned : factors) {
            mesh_size *= owned.factor.length;
        }
    }
    for (int axis = 0; axis <= kSliceAxis; ++axis) {
        check_complete(axis, by_axis[static_cast<std::size_t>(axis)], slice, slices, mesh_size);
    }
}

const LogicalAxis* DeviceMesh::find(std::string_view name) const {
    const auto found = std::ranges::find(axes_, name, &LogicalAxis::name);
    return found == axes_.end() ? nullptr : &*found;
}

int DeviceMesh::size(std::string_view name) const {
    const LogicalAxis* axis = find(name);
    return axis == nullptr ? 1 : axis->size();
}

int DeviceMesh::rank(std::string_view name, const Point& chip, int slice) const {
    const LogicalAxis* axis = find(name);
    int rank = 0;
    for (const AxisFactor& factor : axis == nullptr ? std::vector<AxisFactor>{} : axis->factors) {
        const int at =
            factor.axis == kSliceAxis ? slice : chip[static_cast<std::size_t>(factor.axis)];
        rank = rank * factor.length + at / factor.stride % factor.length;
    }
    return rank;
}

int DeviceMesh::rank(const std::vector<std::string>& names, const Point& chip, int slice) const {
    int combined = 0;
    for (const std::string& name : names) {
        combined = combined * size(name) + rank(name, chip, slice);
    }
    return combined;
}

DeviceMesh::Displacement DeviceMesh::between(std::string_view name, int from, int to) const {
    Displacement displacement;
    const LogicalAxis* axis = find(name);
    if (axis == nullptr) {
        return displacement;
    }
    for (auto factor = axis->factors.rbegin(); factor != axis->factors.rend(); ++factor) {
        const int distance = (to % factor->length - from % factor->length) * factor->stride;
        from /= factor->length;
        to /= factor->length;
        if (factor->axis == kSliceAxis) {
            displacement.slices += distance;
        } else {
            displacement.chips = displacement.chips + along(factor->axis, distance);
        }
    }
    return displacement;
}

DeviceMesh DeviceMesh::exchanged(const AxisExchange& exchange) const {
    DeviceMesh mesh = *this;
    for (LogicalAxis& axis : mesh.axes_) {
        for (AxisFactor& factor : axis.factors) {
            if (factor.axis != kSliceAxis) {
                factor.axis = static_cast<int>(exchange.to[static_cast<std::size_t>(factor.axis)]);
            }
        }
    }
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
        mesh.written_.to[exchange.to[axis]] = written_.to[axis];
    }
    return mesh;
}

std::array<AxisContent, kAxes> DeviceMesh::contents() const {
    struct Part {
        AxisFactor factor;
        const std::string* owner = nullptr;
        std::size_t position = 0;
    };
    std::vector<Part> all;
    for (const LogicalAxis& axis : axes_) {
        for (std::size_t position = 0; position < axis.factors.size(); ++position) {
            const AxisFactor& factor = axis.factors[position];
            if (factor.axis != kSliceAxis && factor.length > 1) {
                all.push_back({factor, &axis.name, position});
            }
        }
    }
    std::ranges::sort(all, {}, [](const Part& part) { return part.factor.stride; });
    std::array<AxisContent, kAxes> contents;
    for (const Part& part : all) {
        AxisContent& along = contents[static_cast<std::size_t>(part.factor.axis)];
        along.positions.push_back(part.position);
        if (!along.parts.empty() && along.parts.back().first == *part.owner) {
            along.parts.back().second *= part.factor.length;
        } else {
            along.parts.emplace_back(*part.owner, part.factor.length);
        }
    }
    return contents;
}

DeviceMesh DeviceMesh::first_of_kind(const std::vector<AxisExchange>& exchanges) const {
    const std::array<AxisContent, kAxes> as_it_is = contents();
    AxisExchange best;
    std::array<AxisContent, kAxes> first = as_it_is;
    for (const AxisExchange& exchange : exchanges) {
        std::array<AxisContent, kAxes> image;
        for (std::size_t axis = 0; axis < kAxes; ++axis) {
            image[exchange.to[axis]] = as_it_is[axis];
        }
        if (image < first) {
            first = std::move(image);
            best = exchange;
        }
    }
    return exchanged(best);
}

std::vector<AxisFactor> DeviceMesh::merged(const std::vector<std::string>& names) const {
    std::vector<AxisFactor> factors;
    for (const LogicalAxis& axis : axes_) {
        if (std::ranges::find(names, axis.name) == names.end()) {
            continue;
        }
        std::ranges::copy_if(axis.factors, std::back_inserter(factors),
                             [](const AxisFactor& f) { return f.length > 1; });
    }
    std::ranges::sort(factors, {}, [](const AxisFactor& f) { return std::pair(f.axis, f.stride); });
    std::vector<AxisFactor> merged;
    for (const AxisFactor& factor : factors) {
        if (!merged.empty() && merged.back().axis == factor.axis &&
            merged.back().stride * merged.back().length == factor.stride) {
            merged.back().length *= factor.length;
        } else {
            merged.push_back(factor);
        }
    }
    return merged;
}

std::vector<AxisFactor> DeviceMesh::group(const std::vector<std::string>& names) const {
    std::vector<AxisFactor> factors = merged(names);
    std::erase_if(factors, [](const AxisFactor& f) { return f.axis == kSliceAxis; });
    return factors;
}

SliceFactor DeviceMesh::across(const std::vector<std::string>& names) const {
    SliceFactor across;
    for (const AxisFactor& factor : merged(names)) {
        if (factor.axis != kSliceAxis) {
            continue;
        }
        if (across.length > 1) {
            throw sim::InputError("a collective spans two factors of the slices that do not adjoin",
                                  "give the logical axes that work together neighbouring factors");
        }
        across = {factor.stride, factor.length};
    }
    return across;
}

}  // namespace podsim::topology
