// List scheduling from the end, as XLA's latency-hiding scheduler does it at compile time
// (xla/service/latency_hiding_scheduler.cc): one order of a graph's nodes, with its own idea of how long each takes.
//
// Nodes on the stream run one after another. A node in flight has a start and an end, which are placed apart: what stands between
// them runs beside it. The order is made from its end to its beginning. Ready is what all of whose users are placed; of these
//   1. an end, where fewer of its kind are in flight than may be (kScheduleDone: it opens a window),
//   2. else what stalls least: a start stalls for what its window still lacks (kLessStall),
//   3. a start whose kind has no room while another's end waits for it (kFreeBackedupResource),
//   4. what reads the result of a node in flight that may stand in its turn (kUnlockDone: so that the next window can open),
//   5. what stands later in the given order (kOriginalOrder)
// goes next, by the first of these rules that tells. So an end stands directly before its first user, and a start as late as
// still covers its time, or as early as it can. With t the time counted from the end, and now = 0 at first: placing v sets
//   t(v) = max(now, t(u) of all users u, of a start t(end) + time);  now = t(v) + (v on the stream: its time).
// Not in: rules by frontend attributes, target rules (not public), memory pressure (see latency_hiding.h), the aggressive policies
// (kStartAtZeroDepth, kAsyncDepth, kAvoidWaste; off by default), resources of nested computations.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/time.h"

namespace podsim::workloads {

/// The kinds of nodes that are none in flight of a bounded kind.
inline constexpr std::uint32_t kOnStream = 0xffffffff;
inline constexpr std::uint32_t kUnbounded = 0xfffffffe;

struct ScheduleNode {
    sim::Time time;                  ///< on the stream, or from start to end
    std::uint32_t kind = kOnStream;  ///< of one in flight: an index of the bounds, or kUnbounded
    std::uint32_t turn = 0;          ///< not descending over nodes that do not float
    /// May stand in any turn. All of a turn's other nodes stand before all of a later one's.
    bool floats = false;
    std::vector<std::uint32_t> after{};  ///< earlier nodes that must have ended
};

/// A node on the stream, or one end of one in flight.
struct ScheduleSlot {
    std::uint32_t node = 0;
    bool ends = false;

    friend bool operator==(const ScheduleSlot&, const ScheduleSlot&) = default;
};

/// `in_flight[k]`, at least 1: how many nodes of kind k may be between their start and their end.
std::vector<ScheduleSlot> list_schedule(const std::vector<ScheduleNode>& nodes,
                                        const std::vector<int>& in_flight);

}  // namespace podsim::workloads
