// The schedule of one ring step.
#pragma once

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/vocabulary/ring_step.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

// An AllGather (and, reversed, a ReduceScatter) as single ring steps, so that a matmul can work on
// the blocks that have arrived while the next step is under way: the "collective matmul" (Wang et
// al., Overlap communication with dependent computation via decomposition, ASPLOS 2023), and ring
// attention (Liu et al., 2023).
//
// Along one factor of n members, with V/n bytes in a block:
//   one-way   n - 1 steps; each passes on to the next member the block of the step before
//   two-way   blocks go in both directions; floor(n/2) steps, for even n half of the opposite
//             member's block in each direction. Between two members that is one step, whose halves
//             begin together
// On a line (an axis that does not wrap, a block of neighbours) the members form a ring by twos: 0,
// 2, 4, ... up and ..., 5, 3, 1 back. A step then crosses at most two links and loads every link
// once in each direction, so that one-way is already as fast as the links allow, (n-1) V/n / r;
// two-way is the same on a line. With several factors the array is divided among axis orders as the
// collectives divide it (parts.h); a part gathers along one factor after the other. A step begins
// at a member as soon as the whole block that it carries is there. Within the step the bytes are
// cut into messages, cut-through over the links of a stride.
//
// Time of n - 1 (one-way) or floor(n/2) (two-way) steps alone on a ring of stride 1, blocks of one
// message, additive latency a, tau = V/n / r rounded up: (n-1) (tau + a); (n/2 - 1) (tau + a) +
// tau/2 + a for even n.
//
// Reversed: a member computes its partial sum of a block, adds the arrived sum, and sends it back
// along the route by which the AllGather brought the block; its own block is last.

/// Returns the next member of the ring by twos on a line: 0, 2, 4, ... up to its end, then ..., 5,
/// 3, 1.
int next_by_twos(int position, int length);

/// Throws sim::InputError for the whole of a twisted slice, whose rings differ by order.
SteppedGather step_gather(const topology::Lattice& slice, const Group& group, bool two_way);

/// Builds the step: every member of every group sends `step.bytes` to the next along one factor.
/// With step.senders only these send, in a group of one factor. With Motion::reduce the bytes are
/// partial sums that the receiver adds to its own. Payloads are pieces of block 0. Throws
/// sim::InputError if links of the factor's axis are dead, and beyond 20 million messages.
CollectiveSchedule build_ring_step(const topology::Lattice& slice, const Group& group,
                                   const RingStep& step, Motion motion,
                                   const ScheduleOptions& options, ShiftTable& shifts);

}  // namespace podsim::collectives
