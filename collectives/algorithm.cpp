#include "collectives/algorithm.h"

#include <array>
#include <string>

#include "sim/error.h"
#include "sim/nearest.h"

namespace podsim::collectives {
namespace {

constexpr std::array kAlgorithms{
    AlgorithmInfo{Algorithm::automatic, "auto",
                  "two-way for a group on one axis factor, weighted for several"},
    AlgorithmInfo{Algorithm::one_way, "one-way",
                  "rings in one direction; several axis factors one after the other"},
    AlgorithmInfo{Algorithm::two_way, "two-way",
                  "rings in both directions, the block of the opposite chip split between them; "
                  "several axis factors one after the other"},
    AlgorithmInfo{
        Algorithm::equal_parts, "equal-parts",
        "several axis factors at once: equal parts of the array take them in rotated orders"},
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

Algorithm resolve(Algorithm algorithm, const Group& group) {
    if (algorithm != Algorithm::automatic) {
        return algorithm;
    }
    return group.size() > 1 ? Algorithm::weighted : Algorithm::two_way;
}

FactorKind factor_kind(const topology::Lattice& slice, const topology::AxisFactor& factor) {
    const bool outermost = factor.stride * factor.length == slice.length(factor.axis);
    return {.ring = outermost && slice.wraps(factor.axis), .links_per_hop = factor.stride};
}

}  // namespace podsim::collectives
