// The hop schedule of a collective: translation-invariant, one role per position on lines.
//
// The array V is divided into parts (axis orders, parts.h). Each part is divided into chunks that
// travel independently, and each block of a step into messages of at most `message_cap`. A part and
// chunk pass through phases, one for each factor: AllGather gathers along order[0], order[1], ...;
// ReduceScatter reduces along the reverse; AllReduce reduces, then gathers. With B the bytes that
// one member holds before a gather phase (or after a reduce phase), a phase on a factor of length n
// is
//   ring, two-way   distance j = 1 .. floor(n/2) in both directions, B bytes a step, and for even n
//                   half of the block at j = n/2 in each direction
//   ring, one-way   distance j = 1 .. n-1 in the positive direction
//   line            every member passes on all that arrives from its left and right; n-1 steps
// In a gather, step j forwards the block of the member at distance j-1 behind; its first message
// may leave once that block's message has arrived. In a reduction, a member sends the partial sum
// for the member at distance j ahead, farthest first. It waits for its own contribution and for the
// partial sum from behind. A phase begins at a member when that member's previous phase has ended
// there.
//
// Priority at a link. Chunk sizes double, 1, 2, 4, ..., and the last is as large as the one before
// it. Chunks are equal in one order, and in two with lines among the factors (chunk_sizes in
// parts.h):
//   AllGather       the earlier phase, of one phase the smaller chunk
//   ReduceScatter   the earlier phase, of one phase the larger chunk
//   AllReduce       the gather phases except the last, as in an AllGather; then the reduce
//                   phases, the larger chunk and of one chunk the earlier phase; at the end the
//                   last phases, the smaller chunk
// The last phase of a gather has most of the bytes and begins when the other factors are done with
// its chunk. Links idle while they wait for that, so this phase has the lowest priority and the
// first chunk is small (docs/collectives.md). Two cases have chunks of one size: reductions along
// lines in more than two orders, and members in several slices. There the first `chunks_in_flight`
// chunks go before the next, and among them the earlier phase.
//
// With several slices, the members at the same position in each also form a factor. It is gathered
// first and reduced last, so that the slices share the work of one array before it leaves them
// (algorithm `flat`: the reverse). A phase between slices sends every other slice its block
// directly, on the machine graph's route (topology/graph/machine_routes.h): (slices - 1) messages
// of B bytes.
//
// One-shot AllReduce gathers the members' whole partial arrays, B = V in every phase, and adds them
// up on arrival. It takes floor(n/2) hops on a ring and n-1 on a line: no more than to the farthest
// member of the factor, half of ReduceScatter then AllGather. (Recursive doubling and its forms
// that avoid contention on rings and tori, Chan, Heimlich, Purkayastha, van de Geijn 2007 and De
// Sensi et al., Swing, NSDI 2024, send fewer bytes in log2 n steps. But a step over distance d
// crosses d links, and their sum is no less than the farthest member's distance.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/algorithms/parts.h"
#include "collectives/paths/ports.h"
#include "collectives/paths/shift_table.h"
#include "collectives/vocabulary/collective_call.h"
#include "sim/workload/schedule.h"
#include "topology/lattice/dead_links.h"
#include "topology/lattice/lattice.h"

namespace podsim::collectives {

struct ScheduleOptions {
    sim::Bytes message_cap{4.0 * 1024 * 1024};
    /// Most chunks of each part if the group has several factors: 1, 2, 4, ... units, the last two
    /// equal.
    int chunks = 5;
    /// Most chunks, all equal, of each of one or two parts if lines are among the factors, or if
    /// all factors are taken in one order.
    int alike_chunks = 24;
    /// Chunks of each of more parts if an operation that reduces has lines among its factors.
    int chunks_in_waves = 6;
    /// Chunks of each part of a group with members in several slices.
    int chunks_between_slices = 24;
    /// Chunks that share a priority, in waves and between slices.
    int chunks_in_flight = 2;
    /// Dead links of the simulated positions.
    topology::DeadLinks dead_links{};
    /// Rate times latency of a link: decides when more or longer routes pay.
    sim::Bytes hop_bytes{};
    /// If false, schedules of rings and lines omit their payloads.
    bool payloads = true;
};

enum class Motion : std::uint8_t { gather, reduce };

/// The content of a transfer, for proofs that carry data. It is the fraction [low, high) / unit of
/// a block of part `part` and chunk `chunk`. The block's home is `block` members along `factor`
/// from the sender (behind it in a gather, ahead in a reduction). Joins have direction 0.
struct Payload {
    static constexpr std::uint16_t kBetweenSlices = 0xffff;

    std::uint16_t part = 0;
    std::uint16_t chunk = 0;
    std::uint16_t phase = 0;
    std::uint16_t factor = 0;  ///< index within the group, or kBetweenSlices
    Motion motion{};
    std::int8_t direction = 0;
    int block = 0;
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t unit = 1;
};

struct CollectiveSchedule {
    sim::Schedule schedule;
    /// Parallel to schedule.transfers; see ScheduleOptions::payloads.
    std::vector<Payload> payloads;
    std::vector<Part> parts;
    int chunks = 1;
    /// Lower bound of the links that the last byte crosses one after the other.
    int hops = 0;
    /// Describes what carries the bytes if the algorithm has a choice.
    std::string served;
};

}  // namespace podsim::collectives
