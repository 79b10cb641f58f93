// The hop schedule of a collective: translation-invariant, one role per position on lines.
//
// The array V is divided into parts (axis orders, parts.h), each part into chunks that travel
// independently, and each block of a step into messages of at most `message_cap`. A part and chunk pass through
// phases, one a factor: AllGather gathers along order[0], order[1], ...; ReduceScatter reduces along the reverse;
// AllReduce reduces, then gathers. With B the bytes that one member holds before a gather phase (or after
// a reduce phase), a phase on a factor of length n is
//   ring, two-way   distance j = 1 .. floor(n/2) in both directions, B bytes a step, and for even n
//                   half of the block at j = n/2 in each direction
//   ring, one-way   distance j = 1 .. n-1 in the positive direction
//   line            every member passes on all that comes from its left and right; n-1 steps
// Gathering, step j forwards the block of the member at distance j-1 behind; its first message may leave
// once that block's message has arrived. Reducing, a member sends the partial sum for the member at
// distance j ahead, farthest first, once its own contribution is ready and the partial sum from behind has arrived.
// A phase begins at a member when that member's previous phase has ended there.
//
// Who goes first at a link. Chunk sizes double, 1, 2, 4, ..., and the last is as large as the one before it; in one order, and in two with
// lines among the factors, they are alike (chunk_sizes in parts.h):
//   AllGather       the earlier phase, of one phase the smaller chunk
//   ReduceScatter   the earlier phase, of one phase the larger chunk
//   AllReduce       the phases that gather, but for the last, as in an AllGather; then those that reduce, the larger
//                   chunk and of one chunk the earlier phase; at the end the last phases, the smaller chunk
// The last phase of a gather has most of the bytes, and it begins when the other factors are done with its chunk: links
// idle when they wait for that, so it comes last, and the first chunk is small (docs/collectives.md). What is
// reduced along lines in more than two orders, and members in several slices: chunks of one size, of which the first `chunks_in_flight` go
// before the next, and among those the earlier phase.
//
// Of several slices, the members at the same place in each also form a factor: gathered first and
// reduced last, so that the slices share the work of one array before it leaves them (algorithm `flat`:
// the other way round). A phase between slices sends every other slice its block straight away, on the machine
// graph's route (topology/graph/machine_routes.h): (slices - 1) messages of B bytes.
//
// One-shot AllReduce gathers the members' whole partial arrays, B = V in every phase, and adds them up on
// arrival: floor(n/2) hops on a ring and n-1 on a line, no more than to the farthest member of the factor, half of
// ReduceScatter then AllGather. (Recursive doubling and its forms that avoid contention on rings and tori, Chan,
// Heimlich, Purkayastha, van de Geijn 2007 and De Sensi et al., Swing, NSDI 2024, send fewer bytes in log2 n steps, but a
// step over distance d crosses d links: their links add up to no less than the farthest member's distance.)
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
    int chunks =
        5;  ///< of each part, of several factors, at most: 1, 2, 4, ... units, the last two alike
    int alike_chunks =
        24;  ///< of each of one or two parts at most, where lines are among the factors, or all are taken in one order
    int chunks_in_waves =
        6;  ///< of each of more parts, where lines are among the factors of what is reduced
    int chunks_between_slices = 24;  ///< of each part, of a group with members in several slices
    int chunks_in_flight = 2;        ///< in waves and between slices: chunks that share a priority
    topology::DeadLinks dead_links{};  ///< of the places that are simulated
    sim::Bytes hop_bytes{};  ///< rate x latency of a link: decides when more or longer ways pay
    bool payloads = true;    ///< false: schedules of rings and lines leave theirs out
};

enum class Motion : std::uint8_t { gather, reduce };

/// What a transfer carries, for proofs that carry data: of part `part` and chunk `chunk`, the
/// fraction [low, high) / unit of the block whose home is `block` members along `factor` from the sender
/// (behind it when gathering, ahead when reducing). Joins have direction 0.
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
    std::vector<Payload> payloads;  ///< parallel to schedule.transfers; ScheduleOptions::payloads
    std::vector<Part> parts;
    int chunks = 1;
    int hops = 0;        ///< links crossed one after the other by the last byte, at the least
    std::string served;  ///< in words, what carries the bytes, where the algorithm has a choice
};

}  // namespace podsim::collectives
