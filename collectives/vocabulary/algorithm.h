// The algorithms by name.
#pragma once

#include <span>
#include <string_view>

namespace podsim::collectives {

enum class Algorithm {
    automatic,  ///< the default for the operation and group (resolve)
    one_way,    ///< rings in one direction only; several factors one after the other
    /// Rings in both directions (lines always use both); several factors one after the other.
    two_way,
    /// Several factors at once: one part per cyclic axis order, of equal size.
    equal_parts,
    /// AllReduce: every member's whole array to all others, factor by factor.
    one_shot,
    /// AllReduce with lines among the factors: along spanning trees and back, pipelined.
    reduce_broadcast,
    /// AllToAll and permute: shortest routes, ties and axis orders split evenly.
    shortest,
    both_ways,        ///< permute: also the other direction round rings
    disjoint_routes,  ///< send: several routes at once
    disjoint_trees,   ///< broadcast: pipelined over several trees at once
    balanced_routes,  ///< gather and scatter: all links of the root carry the same
    /// Several slices: every chip exchanges with the other slices on its own, before (after) its
    /// slice.
    flat,
    /// Several factors at once: parts per axis order, sized so that all axes carry equal time.
    weighted,
};

std::string_view to_string(Algorithm algorithm);
/// Reads the names of all_algorithms(). Throws sim::InputError with the nearest name.
Algorithm parse_algorithm(std::string_view text);
struct AlgorithmInfo {
    Algorithm algorithm;
    std::string_view name;
    std::string_view summary;
};
std::span<const AlgorithmInfo> all_algorithms();

}  // namespace podsim::collectives
