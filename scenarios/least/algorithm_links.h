// What the algorithms that may carry out an AllGather or a ReduceScatter put on the links of a slice, and what their single steps do.
//
// Along a factor of f members and stride s a member hands on blocks of h bytes (collectives/algorithms/ring_bounds.h, held_along). On a ring
// every link carries (f - 1) / 2 of them each way. On a line the link up from member i carries those of the i + 1 members below, of a
// ReduceScatter the f - 1 - i sums for those above; down the same in the mirror. Between two members of a group lie those of s - 1 others,
// whose blocks pass the same links: in a run of s f chips the link up from chip i s + q carries
//     the blocks of q + 1 groups from member i to i + 1, and those of s - 1 - q from i - 1 to i.
// All groups take the same algorithm, and all lines of chips along an axis carry the same.
//
// A step (collectives/algorithms/ring_steps.h) of b bytes a member puts s b on every link of a ring, one way round or half of it each way.
// On a line each of the s lines in a run loads its links once each way; those up from chip q of the run, from the first to the last, are of
//     min(q + 1, s, s f - 1 - q)
// lines.
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

/// Of every byte that a member sends in a step along a factor, for all groups.
struct StepLinks {
    double forward = 0;  ///< on every link of a ring's axis
    double back = 0;
    /// By chip of a line's axis, what goes up from there; down the same in the mirror.
    std::vector<double> up{};
};

/// Of a slice that is not twisted.
StepLinks step_links(const topology::Lattice& slice, const topology::AxisFactor& factor,
                     int direction);

AlgorithmLinks algorithm_links(collectives::Operation operation, const topology::Lattice& slice,
                               const collectives::Group& group);

}  // namespace podsim::scenarios
