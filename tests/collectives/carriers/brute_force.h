// A second simulator of collectives, written from the rules in words. It shares nothing with the
// kernel or the schedules but the sizes (divide, message_count).
//
// It writes down every message of every chip of the whole slice, in one list, and moves time from
// one instant to the next at which anything is due, scanning the list each time. The rules:
//
// - V is divided into parts (weights), parts into chunks. AllGather takes the factors of a part in
//   its order, ReduceScatter in reverse, AllReduce reduces and then gathers. A step's block is what
//   one member holds before gathering along the factor (after reducing along it), cut into
//   message_count messages.
// - Along a two-way ring of n members a block travels to distances 1 .. floor(n/2) in both
//   directions. For even n each direction takes half of the block to the opposite member: forward
//   the first half. Along a one-way ring it travels to distances 1 .. n-1, along a line to the
//   ends.
// - Gathering, a member sends its own block when its phase begins, and passes each message on when
//   it has arrived. Reducing, it sends a message of the sum for the member j ahead when its phase
//   has begun and the same message from the member behind has come, if there is one.
// - A member's phase ends when all messages to it in that phase have come (reducing: the sums for
//   itself) and its phase before has ended; then its next phase begins.
// - Chunks double in size, and the last is as large as the one before. If something is reduced and
//   a factor is a line, they are of one size instead.
// - A link serves one message at a time to its end. Among chunks of one size it takes first the
//   earlier group of chunks in flight, then the earlier phase. Among growing ones it takes the
//   earlier phase, then the smaller chunk (ReduceScatter: the larger). In an AllReduce it takes all
//   phases that gather but the last, then those that reduce, the larger chunk before the earlier
//   phase, then the last phase. Ties go to the earlier arrival at the link; then to part, phase,
//   step (gathering near first, reducing far first), chunk, forward before backward, the earlier
//   message of the step (backward, a block's messages count from the last), the message that has
//   crossed fewer links.
// - A message holds a link for bytes / rate, rounded up. Over several links it is cut-through: its
//   head reaches the next link a after it starts on one; it holds a link until it has also left the
//   link before, plus a. Additive: it arrives a after it leaves its last link. Floor: latency only
//   keeps a step's bytes from arriving sooner than a after the step would have started. A message
//   arrives at the end of its occupancy, or a after its start less the time of the bytes of its
//   step before it, if later.
// - Over a whole twisted slice every axis is a ring of the part: it walks straight along the axis
//   over as many links as lead to a chip whose block the walker already holds.
// - AllToAll: each member sends V / n^2 bytes to each other member of its group, split evenly over
//   the shortest displacements between them and then over the orders of their axes. Each route's
//   bytes are cut into the fewest equal messages of at most the cap. One-way: the one displacement
//   forward along every ring, in all orders. A link takes the message with more links to go; then
//   the earlier; then by the displacement in the order in which all_to_all.h numbers them, the
//   route (displacements by x, y, z, orders of the axes in turn), the message, and the fewer links
//   crossed.
// - Within one instant all that is due is delivered, then every idle link takes one message, and so
//   on until nothing more is due at that instant.
#pragma once

#include "sim/base/time.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

/// Returns the arrival time of the collective's last message, on the unfolded slice.
sim::Time brute_force(const Case& c);

}  // namespace podsim::collectives
