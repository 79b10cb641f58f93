// The executor: plays task graphs and their operations over the links of a machine.
//
// An instant is a sequence of rounds. In each, all events of the instant are delivered, with what
// they cause at once; then every idle server that has messages waiting picks one. What the picks cause at the same
// time belongs to the next round. Deliveries of one round commute: they only lower counters and add
// to waiting sets, so no result depends on the order of events within a round, nor on the numbering of places.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/observer.h"
#include "sim/task_graph.h"
#include "sim/time.h"

namespace podsim::sim {

struct LinkTotals {
    Time busy;
    Bytes carried;
};

struct ExecutionResult {
    Time end;                        ///< when the last task ended
    std::vector<Time> end_of_place;  ///< when each place's last task ended
    std::vector<LinkTotals> links;   ///< [place][port]
    std::uint64_t events = 0;        ///< hops served and tasks ended
};

/// Runs to the end. Throws TimeOverflow, and std::logic_error when tasks are left that can never run
/// (a defect of the caller's graphs or schedules).
ExecutionResult execute(const Workload& workload, Observer* observer = nullptr);

}  // namespace podsim::sim
