// The division of an array among the orders in which the factors of a group are taken.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/collective_call.h"
#include "collectives/vocabulary/group.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// One part of the array: the order in which its AllGather takes the factors (ReduceScatter takes
/// the reverse), and its fraction of the bytes.
struct Part {
    std::vector<int> order;  ///< indices of factors
    /// Members along each factor, in that order. For a whole twisted slice they depend on the
    /// order.
    std::vector<int> lengths;
    double weight = 1;
};

/// Returns the fastest algorithm that gathers and reduces large arrays: `weighted` on several
/// factors, `two-way` on one factor, which has the fewest hops and the least bytes on any ring or
/// line.
Algorithm fastest_for_large(const Group& group);

/// Returns the parts of a group under an algorithm that gathers or reduces (`automatic`:
/// fastest_for_large); weights add up to 1. For `weighted` the weights minimise the largest, over
/// factors, of link time per byte
///     sum over parts of weight x (length - 1) x (product of lengths gathered before)
///         x links_per_hop / links,
/// links = 2 on a ring, 1 on a line. If all factors can carry equal time, the weights of least norm
/// that achieve it are taken. Up to three factors every order is a part, beyond that the rotations.
std::vector<Part> divide(const topology::Lattice& slice, const Group& group, Algorithm algorithm);

struct ScheduleOptions;

/// More orders than these fill each other's gaps, whatever the factors.
inline constexpr std::size_t kFewOrders = 2;

/// Returns the sizes of the chunks of each part within a slice, in units of the first. `rings`: all
/// factors are rings.
///
/// Two parts on rings: ScheduleOptions::chunks of 1, 2, 4, ..., the last as large as the one before
/// it.
///
/// More parts: the same, but the fewest chunks that do as well as ScheduleOptions::chunks, at least
/// two. Let t_i(f) be the time that phase i of all parts puts on a link along f, T_i(f) that of the
/// phases before it, S_k the fraction of the array in the first k chunks, and a_i the latency of
/// the hops of a part, one after the other, up to its phase i. Links along g wait for chunks that
/// arrive over f in the phase before, for at most
///   max over k of T_(i-1)(f) + S_k t_(i-1)(f) + a_(i-1) - T_i(g) - S_(k-1) t_i(g)
/// since earlier phases go first everywhere, and within a phase the chunks in their order (a
/// ReduceScatter goes backwards in time). Fewer chunks may add a thousandth of the whole to the
/// longest wait, and nothing if there were no latency. (With two parts a link has nothing else to
/// do while it waits for messages, which are not infinitely small.)
///
/// Two parts with lines among the factors, or one order under `weighted`:
/// ScheduleOptions::alike_chunks equal chunks. Fewer are taken, but at least half, if a member's
/// block holds fewer bytes than that number times what a link carries in a hop's latency. With
/// phases of T_i seconds one after the other, m chunks are through after max T_i + (sum of the
/// other T_i) / m.
std::vector<int> chunk_sizes(const CollectiveCall& call, const std::vector<Part>& parts, bool rings,
                             const ScheduleOptions& options);

}  // namespace podsim::collectives
