// A cache of schedules' tables (transfer_table.h) in their state before a run, shared by several
// runs.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "sim/state/transfer_table.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// A cache that several threads may use at once.
class KnownTables {
public:
    /// Returns the table of a schedule whose own roles are `own`. From the second request on, table
    /// and schedule are cached, until there are too many. A run that is alone with its schedules
    /// makes no copy.
    TransferTable of(const std::shared_ptr<const Schedule>& schedule, const RolesOfPlaces& own);

private:
    struct Known {
        std::shared_ptr<const Schedule> schedule;
        std::shared_ptr<const TransferTable> table;  ///< nullptr: requested once
    };

    std::mutex mutex_;
    /// Only looked up: its order does not matter.
    std::map<const Schedule*, Known> known_;
    std::size_t transfers_ = 0;  ///< transfers of all schedules
};

}  // namespace podsim::sim
