#include "sim/tables/known_tables.h"

#include <utility>

namespace podsim::sim {
namespace {

/// Some 8 MB; a folded step on a pod has 20,000.
constexpr std::size_t kMostTransfers = std::size_t{1} << 16;

}  // namespace

TransferTable KnownTables::of(const std::shared_ptr<const Schedule>& schedule,
                              const RolesOfPlaces& own) {
    std::shared_ptr<const TransferTable> table;
    {
        const std::scoped_lock lock(mutex_);
        if (const auto found = known_.find(schedule.get()); found != known_.end()) {
            table = found->second.table;
        }
    }
    if (table != nullptr) {
        return *table;
    }
    TransferTable made(*schedule, own);
    const std::size_t transfers = schedule->transfers.size();
    if (transfers <= kMostTransfers) {
        table = std::make_shared<const TransferTable>(made);
        const std::scoped_lock lock(mutex_);
        if (transfers_ + transfers > kMostTransfers) {
            known_.clear();
            transfers_ = 0;
        }
        if (known_.try_emplace(schedule.get(), Known{schedule, std::move(table)}).second) {
            transfers_ += transfers;
        }
    }
    return made;
}

}  // namespace podsim::sim
