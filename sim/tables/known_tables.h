// Tables of schedules (transfer_table.h) that several runs have in common: as they are before a run.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "sim/tables/transfer_table.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// May be used by several threads at once.
class KnownTables {
public:
    /// The table of a schedule whose own roles are those. From the second time on it is kept, and so is the schedule, until there are too
    /// many: a run that is alone with its schedules takes no copy.
    TransferTable of(const std::shared_ptr<const Schedule>& schedule, const RolesOfPlaces& own);

private:
    struct Known {
        std::shared_ptr<const Schedule> schedule;
        std::shared_ptr<const TransferTable> table;  ///< nullptr: asked for once
    };

    std::mutex mutex_;
    std::map<const Schedule*, Known> known_;  ///< looked up alone: their order is of no matter
    std::size_t transfers_ = 0;               ///< of all of them
};

}  // namespace podsim::sim
