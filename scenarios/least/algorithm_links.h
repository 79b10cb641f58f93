// What the algorithms that may carry out an AllGather or a ReduceScatter put on the links of a slice.
//
// Along a factor of f members and stride s a member hands on blocks of h bytes (collectives/algorithms/ring_bounds.h, held_along). On a ring
// every link carries (f - 1) / 2 of them each way. On a line the link up from member i carries those of the i + 1 members below, of a
// ReduceScatter the f - 1 - i sums for those above; down the same in the mirror. Between two members of a group lie those of s - 1 others,
// whose blocks pass the same links: in a run of s f chips the link up from chip i s + q carries
//     the blocks of q + 1 groups from member i to i + 1, and those of s - 1 - q from i - 1 to i.
// All groups take the same algorithm, and all lines of chips along an axis carry the same.
#pragma once

#include <array>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "collectives/vocabulary/operation.h"
#include "topology/lattice/lattice.h"

namespace podsim::scenarios {

/// Of every byte of the complete array of a group. Nothing is known of other operations, and of twisted tori: all is empty.
struct AlgorithmLinks {
    /// By algorithm and factor: the bytes of a block.
    std::vector<std::vector<double>> held;
    /// By axis and chip: what goes up from there to the next chip for all groups, by whichever algorithm puts the least there. Empty
    /// where there is nothing.
    std::array<std::vector<double>, topology::kAxes> up;
};

AlgorithmLinks algorithm_links(collectives::Operation operation, const topology::Lattice& slice,
                               const collectives::Group& group);

}  // namespace podsim::scenarios
