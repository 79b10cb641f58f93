// The executor: plays task graphs and their operations over the links of a machine.
//
// An instant is a sequence of rounds. In each, all events of the instant are delivered, with what
// they cause at once; then every idle server that has messages waiting picks one. What the picks
// cause at the same time belongs to the next round. Deliveries of one round commute: they only lower
// counters and add to waiting sets, so no result depends on the order of events within a round, nor
// on the numbering of places.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/observer.h"
#include "sim/quantity.h"
#include "sim/task_graph.h"
#include "sim/time.h"

namespace podsim::sim {

struct LinkTotals {
    Time busy;
    std::int64_t carried_units = 0;  ///< in 1/1024 byte: sums are exact in any order

    [[nodiscard]] Bytes carried() const { return Bytes(static_cast<double>(carried_units) / 1024); }
    friend bool operator==(const LinkTotals&, const LinkTotals&) = default;
};

struct ExecutionResult {
    Time end;                         ///< when the last task ended
    std::vector<Time> end_of_place;   ///< when each place's last task ended
    std::vector<LinkTotals> links;    ///< [place][port]
    std::uint64_t events = 0;         ///< hops served and tasks ended
    std::uint64_t played_events = 0;  ///< those of them that were not skipped as repeats

    friend bool operator==(const ExecutionResult&, const ExecutionResult&) = default;
};

/// How pending events are kept: like ones together in a radix heap (waves, pending_events.h), or one for each hop in
/// one of the queues of event_queue.h. The result is the same with each.
enum class QueueKind { waves, radix, lanes, calendar, quaternary_heap, binary_heap };

/// Runs to the end. With `reuse`, the places of a graph with marks skip what repeats: when the
/// whole state at a mark equals that at an earlier one, relative to the instant and the mark, the
/// tasks between are played once and their images only counted and reported (reuse.cpp). The result
/// is the same to the picosecond; the observer sees the images of tasks, but not of transfers and
/// links. Throws TimeOverflow, and std::logic_error when tasks are left that can never run (a defect
/// of the caller's graphs or schedules).
ExecutionResult execute(const Workload& workload, Observer* observer = nullptr, bool reuse = true,
                        QueueKind queue = QueueKind::waves);

}  // namespace podsim::sim
