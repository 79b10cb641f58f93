// What no algorithm can beat, and what the reference text estimates. Pure functions of the group.
//
// V is always the size of the array as it is when complete within one group: AllGather's output,
// ReduceScatter's and AllReduce's input. n is the number of members, r the one-way rate of one link.
#pragma once

#include <optional>

#include "collectives/paths/factors.h"
#include "collectives/paths/link_load.h"
#include "collectives/paths/ports.h"
#include "collectives/vocabulary/collective_call.h"

namespace podsim::collectives {

/// The links of a handover within a slice (handover.h): the axes of its routes, as bits, how many routes there are, and the links of each.
struct HandoverLinks {
    unsigned axes = 0;
    int routes = 0;
    int links = 0;
};
HandoverLinks handover_links(const topology::Lattice& slice, const topology::Point& displacement);

/// Classes of links, as bits beside those of the ICI axes (bit a for axis a): the ports 2c and 2c + 1
/// of a place are of class c.
inline constexpr unsigned kPcieClass = 1U << kPcieToHost / 2;
inline constexpr unsigned kDcnClass = 1U << kDcnOut / 2;

/// The links of chips and hosts that lead out of a slice.
struct SliceLinks {
    sim::BytesPerSecond pcie;  ///< of a chip, each way
    sim::BytesPerSecond dcn;   ///< of a host, each way: its share of the fabric
    sim::Seconds pcie_latency{};
    sim::Seconds dcn_latency{};
    int hosts = 1;  ///< of a slice
};

/// What each member must receive, must send, and the mean of what they must receive (ring_bounds.h, all_to_all.h);
/// all zero for n = 1, and for operations whose members are not alike.
LeastTraffic least_traffic(Operation operation, int members, sim::Bytes v);

/// What the call puts on the links of its slice, which it stays within, by whatever algorithm: the bytes of every pair go as far as the
/// two are apart (all_to_all.h, permute.h). Nothing for operations of which who sends what to whom is left to the algorithm.
std::optional<LeastCarried> least_carried(const CollectiveCall& call);

/// What any algorithm must read and write of a member's HBM, the mean over the n members, of which some may do less;
/// nothing for n = 1. By the rules of memory_passes.h: arrays are in HBM before and after, so that
///   (a) what others need of a member's own array is read once at the least, wherever it goes and by however many ways,
///   (b) what is new in a member's result is written once,
///   (c) a partial sum lands in HBM where it is added, and is read again: to add up n arrays n - 1 of them have to land.
/// What lands to be passed on may go on at once (an algorithm that reads it again moves more), and any number may be added
/// at a time:
///   AllGather      V           V/n by (a), (n-1)V/n by (b)
///   ReduceScatter  3V - V/n    V (the own part is added, too), V/n, and 2 (n-1)V/n by (c)
///   AllReduce      4V - 2V/n   V, V, 2 (n-1)V/n
///   AllToAll       2(n-1)V/n^2
///   permute        2V/n        of a shift that moves
///   broadcast      V           V once at the root, and V at the n - 1 others
///   gather, scatter 2(n-1)V/n^2
///   send           V           with n = 2: its two chips
sim::Bytes least_memory(Operation operation, int members, sim::Bytes v);

/// The physical bound of the call on its own. Within a slice: the largest of every member's least bytes at the
/// rate of its links, the mean bytes at the mean rate, and every planar cut's bytes at the cut's rate.
/// AllToAll: the busiest link's bytes when routes are minimal and evenly spread (all_to_all.h). The
/// others: what the tightest cut lets through (permute.h, send.h, broadcast.h, gather_scatter.h).
///
/// With members in several slices, whose `links` are then needed, the largest of
///   a member's least traffic of all n S members over its ICI links and its PCIe link together,
///   a slice's least traffic as one of S members, for each of its groups, over the DCN links of its
///     hosts, and over the PCIe links of its chips,
///   and of an AllToAll the busiest ICI link of the pairs within a slice, V / S^2 of each group.
sim::Seconds physical_bound(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                            const SliceLinks& links = {});

/// The reference text's time (How to Scale Your Model, section 3): AllGather and ReduceScatter
///   max(V / (2 r n_axes), latency x sum over axes of length / 2),
/// AllReduce twice that. AllToAll V A / (8 r n), A of n members along the longest axis; on a line twice that. Without wraparound n - 1 hops of V/n at the one-way
/// rate: (n-1)/n V / r for one line; of several axes, a ring counts 2 r and a line r.
/// Operations with ends: max(bytes / (r x links), latency x longest way), with the bytes and links of the
/// end that has fewest: a send V, a broadcast V and the links of the root, a gather or scatter (n-1)V/n,
/// a permute V/n over one link. (The text has examples of sends and gathers, no formula.)
///
/// With members in several slices the larger of that time and the text's time over DCN, V (AllReduce: 2 V) of every
/// group over the DCN links of the slice's hosts. (AllToAll, of which the text does not speak: V / S^2 within a slice and
/// (S - 1) V / S^2 out of it.)
sim::Seconds book_time(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                       sim::Seconds hop_latency, const SliceLinks& links = {});

}  // namespace podsim::collectives
