// The order of a step's operations by a latency-hiding scheduler, made once, before anything runs.
//
// The operations are those of the chain's programs, with their buffers. Their needs (Op::needs) and
// their bounds by the plan (Op::limits) still apply, and replace the chain's order. The scheduler
// works by turns (StepProgram::turns), from the last to the first:
//   Compute and blocking collectives are on the stream. In flight are the collectives for which
//     Overlap::async has room, all those between slices, and transfers from the host, one at a time
//     of each kind by default; kinds between slices are apart from those within one. Ring steps and
//     handovers begin as soon as they can, and do not count.
//   Compute and collectives of activations stay in their turn. Gathers of weights and reductions of
//     gradients run on into others as far as the plan's bounds allow, but not in a loop of layers
//     (Overlap::layer_loop).
//   Transfers to the host begin as soon as their data is there.
// Invariants: the same operations; each after its needs and its bounds; turns, and with them
// units, in the order of the chain. All members of a stage have the same order, by the longest time
// of each of their operations, so that they issue shared operations in one order. A stage's order
// of turns is the chain's, so that messages between stages cannot deadlock. In the new order, an
// operation waits (Op::after) for the stream before it, for its needs, and for the operations that
// must have ended there by the scheduler's order (which keeps the bounds on operations in flight).
// Buffers are held from the first to the last of the operations that made, read or wrote them in
// the chain's order. A stage that fits in the capacity only in the chain's order keeps that.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/plan/overlap.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// The kinds of nodes that do not count as in flight of a bounded kind.
inline constexpr std::uint32_t kOnStream = 0xffffffff;
inline constexpr std::uint32_t kUnbounded = 0xfffffffe;

// List scheduling from the end, as XLA's latency-hiding scheduler does it at compile time
// (xla/service/latency_hiding_scheduler.cc): one order of a graph's nodes, by its own estimate of
// their times.
//
// Nodes on the stream run one after another. A node in flight has a start and an end, which are
// placed apart: the nodes between them run beside it. The order is made from its end to its
// beginning. A node is ready when all its users are placed. The first of these rules that
// distinguishes ready nodes decides which goes next:
//   1. an end, if fewer of its kind are in flight than may be (kScheduleDone: it opens a window),
//   2. else the node that stalls least: a start stalls for the time that its window still lacks
//      (kLessStall),
//   3. a start whose kind has no room while another's end waits for it (kFreeBackedupResource),
//   4. a node that reads the result of a node in flight that may stand in its turn (kUnlockDone: so
//      that the next window can open),
//   5. the later node in the given order (kOriginalOrder).
// So an end stands directly before its first user, and a start as late as still covers its time, or
// as early as it can. With t the time counted from the end, and now = 0 at first, placing v sets
//   t(v) = max(now, t(u) of all users u, of a start t(end) + time);
//   now = t(v) + (v on the stream: its time).
// Not modelled: rules by frontend attributes, target rules (not public), memory pressure (see
// above), the aggressive policies (kStartAtZeroDepth, kAsyncDepth, kAvoidWaste; off by
// default), resources of nested computations.

struct ScheduleNode {
    sim::Time time;                  ///< on the stream, or from start to end
    std::uint32_t kind = kOnStream;  ///< of a node in flight: an index of the bounds, or kUnbounded
    std::uint32_t turn = 0;          ///< not descending over nodes that do not float
    /// True if it may stand in any turn. All other nodes of a turn stand before those of a later
    /// one.
    bool floats = false;
    std::vector<std::uint32_t> after{};  ///< earlier nodes that must have ended
};

/// A node on the stream, or one end of a node in flight.
struct ScheduleSlot {
    std::uint32_t node = 0;
    bool ends = false;

    friend bool operator==(const ScheduleSlot&, const ScheduleSlot&) = default;
};

/// `in_flight[k]`, at least 1, limits the nodes of kind k between their start and their end.
std::vector<ScheduleSlot> list_schedule(const std::vector<ScheduleNode>& nodes,
                                        const std::vector<int>& in_flight);

/// The scheduler's view of an operation.
struct OperationTime {
    sim::Time time;               ///< duration alone
    bool between_slices = false;  ///< it goes over the data-centre network
};
/// The times of one program, by operation.
using OperationTimes = std::vector<OperationTime>;

/// `times` is by program. Throws sim::InputError if members of a stage differ in their operations,
/// so that no single order exists for all.
StepPrograms hide_latency(const StepPrograms& chain, const Overlap& overlap,
                          const std::vector<OperationTimes>& times, sim::Bytes capacity);

}  // namespace podsim::workloads
