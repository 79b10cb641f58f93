// Lower bounds of all algorithms, and the estimates of the reference text. Pure functions of the
// group.
//
// V is always the size of the array as it is when complete within one group: AllGather's output,
// the input of ReduceScatter and AllReduce. n is the number of members, r the one-way rate of one
// link.
#pragma once

#include <optional>

#include "collectives/paths/factors.h"
#include "collectives/paths/link_load.h"
#include "collectives/paths/ports.h"
#include "collectives/vocabulary/collective_call.h"

namespace podsim::collectives {

/// The links of a handover within a slice (handover.h): the axes of its routes, as bits, the number
/// of routes, and the links of each.
struct HandoverLinks {
    unsigned axes = 0;
    int routes = 0;
    int links = 0;
};
HandoverLinks handover_links(const topology::Lattice& slice, const topology::Point& displacement);

/// Classes of links, as bits beside those of the ICI axes (bit a for axis a): the ports 2c and 2c +
/// 1 of a place are of class c.
inline constexpr unsigned kPcieClass = 1U << kPcieToHost / 2;
inline constexpr unsigned kDcnClass = 1U << kDcnOut / 2;

/// The links of chips and hosts that lead out of a slice.
struct SliceLinks {
    sim::BytesPerSecond pcie;  ///< of a chip, in each direction
    sim::BytesPerSecond dcn;   ///< of a host, in each direction: its share of the fabric
    sim::Seconds pcie_latency{};
    sim::Seconds dcn_latency{};
    int hosts = 1;  ///< of a slice
};

/// Returns the bytes that each member must receive and must send, and the mean of those to receive
/// (ring_bounds.h, all_to_all.h); all zero for n = 1, and for operations whose members are not
/// alike.
LeastTraffic least_traffic(Operation operation, int members, sim::Bytes v);

/// Returns what the call puts on the links of its slice (it stays within one) under any algorithm:
/// the bytes of every pair go as far as the two are apart (all_to_all.h, permute.h). Returns
/// nothing for operations whose algorithm decides which member sends which bytes to which other.
std::optional<LeastCarried> least_carried(const CollectiveCall& call);

/// Returns the lower bound of the bytes that an algorithm reads and writes in a member's HBM, the
/// mean over the n members, a few of which may do less; nothing for n = 1. By the rules of
/// memory_passes.h, arrays are in HBM before and after, so that
///   (a) a member's own data that others need is read at least once, for any number of routes and
///       receivers,
///   (b) new data in a member's result is written once,
///   (c) a partial sum lands in HBM where it is added, and is read again: to add up n arrays, n - 1
///       of them have to land.
/// Data that lands to be passed on may go on at once (an algorithm that reads it again moves more),
/// and any number may be added at a time:
///   AllGather      V           V/n by (a), (n-1)V/n by (b)
///   ReduceScatter  3V - V/n    V (a member's own array is added, too), V/n, and 2 (n-1)V/n by (c)
///   AllReduce      4V - 2V/n   V, V, 2 (n-1)V/n
///   AllToAll       2(n-1)V/n^2
///   permute        2V/n        of a shift that moves
///   broadcast      V           V once at the root, and V at the n - 1 others
///   gather, scatter 2(n-1)V/n^2
///   send           V           with n = 2: its two chips
sim::Bytes least_memory(Operation operation, int members, sim::Bytes v);

/// Returns the physical bound of the call on its own. Within a slice: the largest of every member's
/// least bytes at the rate of its links, the mean bytes at the mean rate, and every planar cut's
/// bytes at the cut's rate. AllToAll: the busiest link's bytes if routes are minimal and evenly
/// spread (all_to_all.h). The others: the capacity of the tightest cut (permute.h, send.h,
/// broadcast.h, gather_scatter.h).
///
/// With members in several slices (`links` is then needed), the bound is the largest of
///   a member's least traffic of all n S members over its ICI links and its PCIe link together,
///   a slice's least traffic as one of S members, for each of its groups, over the DCN links of its
///     hosts, and over the PCIe links of its chips,
///   and for an AllToAll the busiest ICI link of the pairs within a slice, V / S^2 of each group.
sim::Seconds physical_bound(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                            const SliceLinks& links = {});

/// Returns the reference text's time (How to Scale Your Model, section 3): AllGather and
/// ReduceScatter
///   max(V / (2 r n_axes), latency x sum over axes of length / 2),
/// AllReduce twice that. AllToAll V A / (8 r n), A of n members along the longest axis; on a line
/// twice that. Without wraparound n - 1 hops of V/n at the one-way rate: (n-1)/n V / r for one
/// line; over several axes, a ring counts 2 r and a line r. Operations with ends: max(bytes / (r x
/// links), latency x longest route), with the bytes and links of the end that has fewest: a send V,
/// a broadcast V and the links of the root, a gather or scatter (n-1)V/n, a permute V/n over one
/// link. (The text has examples of sends and gathers, no formula.)
///
/// With members in several slices, returns the larger of that time and the text's time over DCN, V
/// (AllReduce: 2 V) of every group over the DCN links of the slice's hosts. (AllToAll, which the
/// text does not cover: V / S^2 within a slice and (S - 1) V / S^2 out of it.)
sim::Seconds book_time(const CollectiveCall& call, sim::BytesPerSecond link_one_way,
                       sim::Seconds hop_latency, const SliceLinks& links = {});

}  // namespace podsim::collectives
