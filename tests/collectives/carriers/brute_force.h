// A second simulator of collectives, written from the rules in words and sharing nothing with the
// kernel or the schedules but the sizes (divide, message_count).
//
// It writes down every message of every chip of the whole slice, in one list, and moves time from one
// instant to the next at which anything is due, scanning the list each time. The rules:
//
// - V is divided into parts (weights), parts into chunks. AllGather takes the factors of a part in its order,
//   ReduceScatter in reverse, AllReduce reduces and then gathers. A step's block is what one member holds
//   before gathering along the factor (after reducing along it), cut into message_count messages.
// - Along a two-way ring of n members a block travels to distances 1 .. floor(n/2) both ways; for even
//   n each way takes half of the block to the opposite member: the forward way the first half. Along a one-way
//   ring to distances 1 .. n-1; along a line as far as it goes.
// - Gathering, a member sends its own block when its phase begins, and each message that it
//   receives on, when that has arrived. Reducing, it sends a message of the sum for the member j
//   ahead when its phase has begun and the same message from the member behind has come, if there is one.
// - A member's phase ends when all that comes to it in that phase has come (reducing: the sums for
//   itself) and its phase before has ended; then its next phase begins.
// - Chunks double in size, the last is as large as the one before. But where something is reduced and a factor is
//   a line, they are of one size.
// - A link serves one message at a time to its end. It takes first, of chunks of one size: the earlier group of
//   chunks in flight, the earlier phase; of growing ones: the earlier phase, the smaller chunk (ReduceScatter: the
//   larger), in an AllReduce all phases that gather but the last, then those that reduce, the larger chunk before the
//   earlier phase, then the last phase. Then the earlier arrival at the link; then part, phase, step (gathering near
//   first, reducing far first), chunk, forward before backward, the earlier message of the step (the backward
//   way counts a block's messages from the last), the message that has crossed fewer links.
// - A message holds a link for bytes / rate, rounded up. Over several links it is cut-through: its
//   head reaches the next link a after it starts on one; it holds a link until it has also left the link
//   before, plus a. Additive: it arrives a after it leaves its last link. Floor: latency only keeps a
//   step's bytes from arriving sooner than a after the step would have started: a message arrives at
//   the end of its occupancy, or a after its start less the time of the bytes of its step before it, if later.
// - Over a whole twisted slice every axis is a ring of the part: walking straight along the axis,
//   as many links as lead to a chip whose block the walker already holds.
// - AllToAll: from each member to each other member of its group V / n^2 bytes, split evenly over the
//   shortest displacements between them and then over the orders of their axes; each route's bytes are cut
//   into the fewest equal messages of at most the cap. One-way: the one displacement forward along
//   every ring, in all orders. A link takes the message with more links to go; then the earlier; then by the
//   displacement in the order in which all_to_all.h numbers them, the route (displacements by x, y, z, orders of the
//   axes in turn), the message, and the fewer links crossed.
// - Within one instant: all that is due is delivered, then every idle link takes one message, and so
//   on until nothing more is due at that instant.
#pragma once

#include "sim/base/time.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// When the last message of the collective arrives, on the slice unfolded.
sim::Time brute_force(const Case& c);

}  // namespace podsim::collectives
