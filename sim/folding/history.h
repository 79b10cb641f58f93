// The recent past of one component, as far as it may repeat.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/base/time.h"
#include "sim/folding/snapshot.h"

namespace podsim::sim {

/// A task that has ended at a place.
struct EndedTask {
    std::uint32_t place = 0;
    std::uint32_t task = 0;
    Time ended;
};

struct History {
    /// [index in places]: lowest open one of its own tasks.
    std::vector<std::uint32_t> lowest_open;
    /// The last task whose needs the component's own tasks have changed.
    std::uint32_t highest_touched = 0;
    std::deque<EndedTask> ended_log;  ///< since the oldest snapshot
    std::deque<Snapshot> snapshots;   ///< of the last few marks
};

}  // namespace podsim::sim
