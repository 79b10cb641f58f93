#include "collectives/vocabulary/algorithm.h"

#include <array>
#include <string>
#include <vector>

#include "sim/base/nearest.h"

namespace podsim::collectives {
namespace {

constexpr std::array kAlgorithms{
    AlgorithmInfo{Algorithm::automatic, "auto",
                  "the fastest for the array's size by simulation or closed form, of two-way (over "
                  "one axis factor), weighted, equal-parts, one-shot and reduce-broadcast; "
                  "shortest-routes for an all-to-all"},
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

}  // namespace podsim::collectives
