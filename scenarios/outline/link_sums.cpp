#include "scenarios/outline/link_sums.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace podsim::scenarios {
namespace {

/// Where the members of a group lie along an axis, ascending from 0.
std::vector<int> places_along(const collectives::Group& group, int axis) {
    std::vector<int> places{0};
    for (const topology::AxisFactor& factor : group) {
        if (factor.axis != axis) {
            continue;
        }
        std::vector<int> all;
        for (const int place : places) {
            for (int i = 0; i < factor.length; ++i) {
                all.push_back(place + i * factor.stride);
            }
        }
        places = std::move(all);
    }
    std::ranges::sort(places);
    return places;
}

/// Between neighbours; of a ring all but the longest.
std::vector<int> gaps(const topology::Lattice& slice, int axis, const std::vector<int>& places) {
    std::vector<int> gaps;
    for (std::size_t i = 1; i < places.size(); ++i) {
        gaps.push_back(places[i] - places[i - 1]);
    }
    if (slice.wraps(axis) && places.size() > 1) {
        gaps.push_back(slice.length(axis) - places.back());
        gaps.erase(std::ranges::max_element(gaps));
    }
    return gaps;
}

bool holds(unsigned axes_mask, int axis) {
    return (axes_mask >> static_cast<unsigned>(axis) & 1U) != 0;
}

/// Bytes that pass links of a set of axes, for each chip.
sim::Bytes passed(const workloads::Collective& collective, const topology::Lattice& slice,
                  const collectives::Group& group, unsigned axes_mask) {
    const sim::Bytes of_member = collective.bytes / collectives::group_size(group);
    using collectives::Operation;
    switch (collective.operation) {
        case Operation::all_gather:
        case Operation::reduce_scatter:
            return of_member * tree_links(slice, group, axes_mask);
        case Operation::all_reduce:
            return of_member * (2 * tree_links(slice, group, axes_mask));
        case Operation::all_to_all:
            return of_member * pair_links(slice, group, axes_mask);
        default:
            return {};
    }
}

}  // namespace

double tree_links(const topology::Lattice& slice, const collectives::Group& group,
                  unsigned axes_mask) {
    std::map<int, std::vector<int>> times_by_gap;  ///< by axis, how often an axis has that gap
    std::vector<int> parts(topology::kAxes, 1);
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (!holds(axes_mask, axis)) {
            continue;
        }
        for (const int gap : gaps(slice, axis, places_along(group, axis))) {
            std::vector<int>& times = times_by_gap[gap];
            times.resize(topology::kAxes);
            ++times[static_cast<std::size_t>(axis)];
            ++parts[static_cast<std::size_t>(axis)];
        }
    }
    const auto all_parts = [&] { return static_cast<double>(parts[0]) * parts[1] * parts[2]; };
    double links = 0;
    for (const auto& [gap, times] : times_by_gap) {
        const double before = all_parts();
        for (std::size_t axis = 0; axis < times.size(); ++axis) {
            parts[axis] -= times[axis];
        }
        links += gap * (before - all_parts());
    }
    return links;
}

double pair_links(const topology::Lattice& slice, const collectives::Group& group,
                  unsigned axes_mask) {
    double links = 0;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (!holds(axes_mask, axis)) {
            continue;
        }
        const std::vector<int> places = places_along(group, axis);
        double sum = 0;
        for (const int from : places) {
            for (const int to : places) {
                const int apart = std::abs(from - to);
                sum += slice.wraps(axis) ? std::min(apart, slice.length(axis) - apart) : apart;
            }
        }
        const auto count = static_cast<double>(places.size());
        links += sum / (count * count);
    }
    return links;
}

sim::Seconds least_link_time(const workloads::StepProgram& program, const topology::Lattice& slice,
                             const topology::DeviceMesh& mesh, sim::BytesPerSecond link) {
    constexpr unsigned kSets = 1U << topology::kAxes;
    std::vector<sim::Bytes> sums(kSets);
    for (const workloads::Op& op : program.ops) {
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective == nullptr || !collective->loads.empty() ||
            (collective->step && collective->step->senders) ||
            mesh.across(collective->axes).length > 1) {
            continue;
        }
        const collectives::Group group = mesh.group(collective->axes);
        for (unsigned set = 1; set < kSets; ++set) {
            sums[set] += passed(*collective, slice, group, set);
        }
    }
    sim::Seconds longest{};
    for (unsigned set = 1; set < kSets; ++set) {
        const double links = collectives::links_per_chip(slice, set).mean;
        if (links > 0) {
            longest = std::max(longest, sums[set] / (link * links));
        }
    }
    return longest;
}

}  // namespace podsim::scenarios
