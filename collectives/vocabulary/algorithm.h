// The algorithms by name, and how an array is divided among axis orders, chunks and messages.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "collectives/vocabulary/operation.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

enum class Algorithm {
    automatic,  ///< the default for the operation and group (resolve)
    one_way,    ///< rings in one direction only; several factors one after the other
    two_way,  ///< rings in both directions (lines always use both); several factors one after the other
    equal_parts,  ///< several factors at once: one part per cyclic axis order, of equal size
    one_shot,     ///< AllReduce: every member's whole array to all others of each factor in turn
    reduce_broadcast,  ///< AllReduce with lines among the factors: along spanning trees and back, pipelined
    shortest,          ///< AllToAll and permute: shortest routes, ties and axis orders split evenly
    both_ways,        ///< permute: also the other way round rings
    disjoint_routes,  ///< send: several routes at once
    disjoint_trees,   ///< broadcast: pipelined over several trees at once
    balanced_routes,  ///< gather and scatter: all links of the root carry the same
    flat,  ///< several slices: exchanged between them by every chip on its own, before (after) its slice
    weighted,  ///< several factors at once: parts per axis order, sized so that all axes carry equal time
};

std::string_view to_string(Algorithm algorithm);
/// Reads the names of all_algorithms(). Throws sim::InputError with the nearest.
Algorithm parse_algorithm(std::string_view text);
struct AlgorithmInfo {
    Algorithm algorithm;
    std::string_view name;
    std::string_view summary;
};
std::span<const AlgorithmInfo> all_algorithms();

/// What `automatic` chooses from on that group (choose_algorithm.h), the one for the largest arrays first.
///   AllToAll                   shortest
///   one factor                 two_way, which has the fewest hops and the least bytes on any ring or line
///   several factors            weighted, equal_parts
///   AllReduce besides          reduce_broadcast with lines among the factors, one_shot
std::vector<Algorithm> candidates(Operation operation, const topology::Lattice& slice,
                                  const Group& group);

/// The first of the candidates for `automatic`; any other stands for itself. Throws sim::InputError when the operation has no such algorithm.
Algorithm resolve(Operation operation, Algorithm algorithm, const topology::Lattice& slice,
                  const Group& group);

/// The algorithm within each slice when the group has members in several: automatic is the default
/// there, in the order of collective_schedule.h; `flat` is for all but AllToAll. Throws sim::InputError.
Algorithm resolve_between_slices(Operation operation, Algorithm algorithm,
                                 const topology::Lattice& slice, const Group& group);

/// Whether the group is the whole of a twisted slice. Its rings are walked modulo what the factors
/// before have gathered: along the first axis the ring has the length at which walking straight
/// returns to the start (2k on a short axis), along the next the length at which it returns to a chip
/// that shares the data, and so on. The product is the number of chips in every order.
bool spans_twisted_slice(const topology::Lattice& slice, const Group& group);

/// The lengths of the rings of a whole slice in that order of its axes.
std::vector<int> ring_lengths(const topology::Lattice& slice, const Group& group,
                              const std::vector<int>& order);

/// How one factor of a group carries traffic: a ring when the factor is the outermost of an axis that
/// wraps straight, else a line.
struct FactorKind {
    bool ring = false;
    int links_per_hop = 1;  ///< the stride: physical links between neighbouring members
};
FactorKind factor_kind(const topology::Lattice& slice, const topology::AxisFactor& factor);

/// One part of the array: the order in which its AllGather takes the factors (ReduceScatter takes
/// the reverse), and its share of the bytes.
struct Part {
    std::vector<int> order;  ///< indices of factors
    std::vector<int>
        lengths;  ///< members along each, in that order; of a whole twisted slice they depend on it
    double weight = 1;
};

/// The parts of a group under an algorithm; weights add up to 1. For `weighted` the weights minimise
/// the largest, over factors, of link time per byte
///     sum over parts of weight x (length - 1) x (product of lengths gathered before) x links_per_hop / links,
/// links = 2 on a ring, 1 on a line; where all factors can carry equal time the weights of least norm do.
/// Up to three factors every order is a part, beyond that the rotations.
std::vector<Part> divide(const topology::Lattice& slice, const Group& group, Algorithm algorithm);

}  // namespace podsim::collectives
