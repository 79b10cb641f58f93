// What one component has done lately, as far as it may repeat.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/base/time.h"
#include "sim/reuse/snapshot.h"

namespace podsim::sim {

/// A task that has ended at a place.
struct EndedTask {
    std::uint32_t place = 0;
    std::uint32_t task = 0;
    Time ended;
};

struct History {
    std::vector<std::uint32_t> lowest_open;  ///< [index in places]: of tasks that are its own
    std::uint32_t highest_touched = 0;  ///< the last task whose needs its own tasks have changed
    std::deque<EndedTask> ended_log;    ///< since the oldest snapshot
    std::deque<Snapshot> snapshots;     ///< of the last few marks
};

}  // namespace podsim::sim
