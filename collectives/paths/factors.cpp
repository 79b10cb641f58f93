#include "collectives/paths/factors.h"

#include <algorithm>

namespace podsim::collectives {

FactorKind factor_kind(const topology::Lattice& slice, const topology::AxisFactor& factor) {
    const bool outermost = factor.stride * factor.length == slice.length(factor.axis);
    const bool straight =
        slice.wrap_shift[static_cast<std::size_t>(factor.axis)] == topology::Point{};
    return {.ring = outermost && slice.wraps(factor.axis) && straight,
            .links_per_hop = factor.stride};
}

bool spans_twisted_slice(const topology::Lattice& slice, const Group& group) {
    return slice.twisted() && group_size(group) == slice.size();
}

bool walked_as_ring(const topology::Lattice& slice, const Group& group,
                    const topology::AxisFactor& factor) {
    return factor_kind(slice, factor).ring || spans_twisted_slice(slice, group);
}

bool has_line(const topology::Lattice& slice, const Group& group) {
    return std::ranges::any_of(group, [&](const topology::AxisFactor& factor) {
        return !walked_as_ring(slice, group, factor);
    });
}

std::vector<int> ring_lengths(const topology::Lattice& slice, const Group& group,
                              const std::vector<int>& order) {
    // `reached` is the subgroup that the axes so far generate.
    std::vector<bool> reached(static_cast<std::size_t>(slice.size()));
    std::vector<topology::Point> members{topology::Point{}};
    reached[0] = true;
    const auto number = [&](const topology::Point& p) {
        return static_cast<std::size_t>(slice.index(*slice.canonical(p)));
    };
    std::vector<int> lengths;
    for (const int index : order) {
        const int axis = group[static_cast<std::size_t>(index)].axis;
        int length = 1;
        while (!reached[number(topology::along(axis, length))]) {
            ++length;
        }
        const std::size_t before = members.size();
        for (int step = 1; step < length; ++step) {
            for (std::size_t i = 0; i < before; ++i) {
                members.push_back(*slice.canonical(members[i] + topology::along(axis, step)));
                reached[number(members.back())] = true;
            }
        }
        lengths.push_back(length);
    }
    return lengths;
}

LinkCount links_per_chip(const topology::Lattice& slice, unsigned axes_mask) {
    LinkCount count;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const int length = slice.length(axis);
        if (length == 1 || (axes_mask >> axis & 1U) == 0) {
            continue;
        }
        count.fewest += slice.wraps(axis) ? 2 : 1;
        count.mean += slice.wraps(axis) ? 2.0 : 2.0 * (length - 1) / length;
    }
    return count;
}

std::array<double, topology::kAxes> links_by_axis(const topology::Lattice& slice) {
    std::array<double, topology::kAxes> links{};
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        links.at(static_cast<std::size_t>(axis)) = links_per_chip(slice, 1U << axis).mean;
    }
    return links;
}

LinkCount links_per_member(const topology::Lattice& slice, const Group& group) {
    LinkCount count;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        LinkCount on_axis;
        for (const topology::AxisFactor& factor : group) {
            if (factor.axis != axis || factor.length == 1) {
                continue;
            }
            const bool ring = walked_as_ring(slice, group, factor);
            on_axis.fewest += ring ? 2 : 1;
            on_axis.mean += ring ? 2.0 : 2.0 * (factor.length - 1) / factor.length;
        }
        count.fewest += std::min(on_axis.fewest, 2.0);
        count.mean += std::min(on_axis.mean, 2.0);
    }
    return count;
}

}  // namespace podsim::collectives
