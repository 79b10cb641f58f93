// The whole state of a component at one instant, relative to the instant and to a mark of its task graph: what makes
// two states equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/time.h"
#include "sim/reuse/signature.h"
#include "sim/workload/result.h"

namespace podsim::sim {

struct Snapshot {
    static constexpr std::int64_t kEnded = -1;

    std::uint32_t mark = 0;  ///< the task that had just ended, or
    bool early = false;      ///< was about to
    Time now;
    std::size_t ended_tasks = 0;    ///< length of the history's log
    std::uint32_t lowest_open = 0;  ///< the first task that had not ended everywhere
    /// Operations, links with what waits, and pending events, renumbered: must be equal for the future to be equal.
    Signature state;
    /// The tasks that have been touched and are not as at the beginning, ascending; and the state of each at every place
    /// of the component: [index in tasks][place]: how many must come before it starts, or kEnded. When a task that runs
    /// began decides nothing.
    std::vector<std::uint32_t> tasks;
    std::vector<std::int64_t> needs;
    std::vector<LinkTotals> links;  ///< those of the component; they may differ

    [[nodiscard]] std::size_t size_in_bytes() const;
    /// How many of `tasks` belong to what repeats with that period; the rest lies more than a period on.
    [[nodiscard]] std::size_t near_tasks(std::uint32_t period) const;
    /// The last of them; there must be one.
    [[nodiscard]] std::uint32_t last_near_task(std::uint32_t period) const {
        return tasks[near_tasks(period) - 1];
    }
    /// Whether this is the state of `earlier`, as many tasks on as the marks are apart (the period), but for tasks far
    /// ahead: those are as they were, and none of them runs.
    [[nodiscard]] bool is_image_of(const Snapshot& earlier) const;
};

}  // namespace podsim::sim
