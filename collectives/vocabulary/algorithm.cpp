#include "collectives/vocabulary/algorithm.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::collectives {
namespace {

constexpr std::array kAlgorithms{
    AlgorithmInfo{
        Algorithm::automatic, "auto",
        "the fastest for the array's size by simulation or closed form, of two-way, weighted, "
        "equal-parts, one-shot and reduce-broadcast; shortest-routes for an all-to-all"},
    AlgorithmInfo{Algorithm::one_way, "one-way",
                  "rings in one direction; several axis factors one after the other"},
    AlgorithmInfo{Algorithm::two_way, "two-way",
                  "rings in both directions, the block of the opposite chip split between them; "
                  "several axis factors one after the other"},
    AlgorithmInfo{
        Algorithm::equal_parts, "equal-parts",
        "several axis factors at once: equal parts of the array take them in rotated orders"},
    AlgorithmInfo{
        Algorithm::one_shot, "one-shot",
        "all-reduce of small arrays: along each factor in turn every member sends its whole "
        "array to all others, which add; half the hops"},
    AlgorithmInfo{Algorithm::reduce_broadcast, "reduce-broadcast",
                  "all-reduce with lines among the factors: reduce along spanning trees and "
                  "broadcast back, pipelined"},
    AlgorithmInfo{Algorithm::shortest, "shortest-routes",
                  "all-to-all, permute: shortest routes, ties and axis orders split evenly, "
                  "messages with more hops to go first"},
    AlgorithmInfo{Algorithm::both_ways, "both-ways",
                  "permute: shortest routes, and where it pays for the size the other way round "
                  "rings too, both ways loaded alike"},
    AlgorithmInfo{
        Algorithm::disjoint_routes, "disjoint-routes",
        "send: as many routes without a common link as pay for the size, ending together"},
    AlgorithmInfo{Algorithm::disjoint_trees, "disjoint-trees",
                  "broadcast: pipelined over spanning trees without a common link, or over one "
                  "shallow tree where that is faster"},
    AlgorithmInfo{Algorithm::balanced_routes, "balanced-routes",
                  "gather, scatter: routes by which the links of the root carry the same"},
    AlgorithmInfo{Algorithm::flat, "flat",
                  "several slices: every chip exchanges with the other slices on its own, without "
                  "sharing the array within its slice first"},
    AlgorithmInfo{Algorithm::weighted, "weighted",
                  "several axis factors at once: a part for every order, sized so that all links "
                  "work all the time"},
};

/// Whether a factor is a line; a whole twisted slice has none.
bool has_line(const topology::Lattice& slice, const Group& group) {
    return !spans_twisted_slice(slice, group) &&
           std::ranges::any_of(group, [&](const topology::AxisFactor& factor) {
               return !factor_kind(slice, factor).ring;
           });
}

/// The one algorithm of an operation that has no choice.
std::optional<Algorithm> only_algorithm(Operation operation) {
    switch (operation) {
        case Operation::send:
            return Algorithm::disjoint_routes;
        case Operation::broadcast:
            return Algorithm::disjoint_trees;
        case Operation::gather:
        case Operation::scatter:
            return Algorithm::balanced_routes;
        default:
            return std::nullopt;
    }
}

bool is_for_ends(Algorithm algorithm) {
    return algorithm == Algorithm::both_ways || algorithm == Algorithm::disjoint_routes ||
           algorithm == Algorithm::disjoint_trees || algorithm == Algorithm::balanced_routes;
}

sim::InputError does_not_carry_out(Operation operation, Algorithm algorithm,
                                   std::string_view allowed) {
    return sim::InputError("algorithm '" + std::string(to_string(algorithm)) +
                               "' does not carry out " + std::string(to_string(operation)) +
                               " on this group",
                           "allowed: auto, " + std::string(allowed));
}

}  // namespace

std::string_view to_string(Algorithm algorithm) {
    for (const AlgorithmInfo& info : kAlgorithms) {
        if (info.algorithm == algorithm) {
            return info.name;
        }
    }
    return "unknown";
}

Algorithm parse_algorithm(std::string_view text) {
    std::vector<std::string> names;
    for (const AlgorithmInfo& info : kAlgorithms) {
        if (info.name == text) {
            return info.algorithm;
        }
        names.emplace_back(info.name);
    }
    throw sim::unknown_name("algorithm", text, names);
}

std::span<const AlgorithmInfo> all_algorithms() {
    return kAlgorithms;
}

std::vector<Algorithm> candidates(Operation operation, const topology::Lattice& slice,
                                  const Group& group) {
    if (operation == Operation::all_to_all) {
        return {Algorithm::shortest};
    }
    const bool several = group.size() > 1;
    std::vector<Algorithm> list;
    if (operation == Operation::all_reduce && has_line(slice, group) && group_size(group) > 2) {
        list.push_back(Algorithm::reduce_broadcast);
    }
    list.push_back(several ? Algorithm::weighted : Algorithm::two_way);
    if (several) {
        list.push_back(Algorithm::equal_parts);
    }
    if (operation == Operation::all_reduce) {
        list.push_back(Algorithm::one_shot);
    }
    return list;
}

Algorithm resolve(Operation operation, Algorithm algorithm, const topology::Lattice& slice,
                  const Group& group) {
    if (const std::optional<Algorithm> only = only_algorithm(operation)) {
        if (algorithm != Algorithm::automatic && algorithm != *only) {
            throw does_not_carry_out(operation, algorithm, to_string(*only));
        }
        return *only;
    }
    if (operation == Operation::permute) {
        if (algorithm == Algorithm::automatic) {
            return Algorithm::both_ways;
        }
        if (algorithm != Algorithm::both_ways && algorithm != Algorithm::shortest) {
            throw does_not_carry_out(operation, algorithm, "both-ways, shortest-routes");
        }
        return algorithm;
    }
    if (algorithm == Algorithm::automatic) {
        return candidates(operation, slice, group).front();
    }
    if (algorithm == Algorithm::flat) {
        throw sim::InputError("algorithm 'flat' is for several slices",
                              "allowed for one slice: auto and the others");
    }
    const bool all_to_all = operation == Operation::all_to_all;
    const bool all_reduce = operation == Operation::all_reduce;
    const bool has_trees = all_reduce && has_line(slice, group);
    const bool fits =
        algorithm == Algorithm::one_way || (algorithm == Algorithm::shortest           ? all_to_all
                                            : algorithm == Algorithm::reduce_broadcast ? has_trees
                                            : algorithm == Algorithm::one_shot         ? all_reduce
                                            : is_for_ends(algorithm)                   ? false
                                                                     : !all_to_all);
    if (!fits) {
        throw does_not_carry_out(operation, algorithm,
                                 all_to_all ? "shortest-routes, one-way"
                                            : "one-way, two-way, equal-parts, weighted" +
                                                  std::string(all_reduce ? ", one-shot" : "") +
                                                  (has_trees ? ", reduce-broadcast" : ""));
    }
    return algorithm;
}

Algorithm resolve_between_slices(Operation operation, Algorithm algorithm,
                                 const topology::Lattice& slice, const Group& group) {
    if (operation > Operation::all_to_all) {
        throw sim::InputError(
            std::string(to_string(operation)) + " between slices is not available",
            "use axes within one slice");
    }
    const bool all_to_all = operation == Operation::all_to_all;
    if (algorithm == Algorithm::flat && !all_to_all) {
        return algorithm;
    }
    if (algorithm == Algorithm::flat) {
        throw sim::InputError("algorithm 'flat' does not carry out all-to-all",
                              "allowed: auto, shortest-routes, one-way");
    }
    // Within a slice an AllReduce is a ReduceScatter and an AllGather.
    const Algorithm within =
        resolve(operation == Operation::all_reduce ? Operation::all_gather : operation, algorithm,
                slice, group);
    // Between lone chips there is nothing to share: every chip exchanges on its own.
    return group.empty() && !all_to_all ? Algorithm::flat : within;
}

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

}  // namespace podsim::collectives
