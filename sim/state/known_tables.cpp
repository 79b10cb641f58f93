#include "sim/state/known_tables.h"

#include <utility>

namespace podsim::sim {
namespace {

/// Limits the cache to about 8 MB; a folded step on a pod has 20,000 transfers.
constexpr std::size_t kMostTransfers = std::size_t{1} << 16;

}  // namespace

TransferTable KnownTables::of(const std::shared_ptr<const Schedule>& schedule,
                              const RolesOfPlaces& own) {
    const std::size_t transfers = schedule->transfers.size();
    if (transfers > kMostTransfers) {
        return {*schedule, own};
    }
    std::shared_ptr<const TransferTable> table;
    bool seen = false;
    {
        const std::scoped_lock lock(mutex_);
        if (const auto found = known_.find(schedule.get()); found != known_.end()) {
            seen = true;
            table = found->second.table;
        } else {
            if (transfers_ + transfers > kMostTransfers) {
                known_.clear();
                transfers_ = 0;
            }
            known_.emplace(schedule.get(), Known{schedule, nullptr});
            transfers_ += transfers;
        }
    }
    if (table != nullptr) {
        return *table;
    }
    TransferTable made(*schedule, own);
    if (seen) {
        table = std::make_shared<const TransferTable>(made);
        const std::scoped_lock lock(mutex_);
        if (const auto found = known_.find(schedule.get()); found != known_.end()) {
            found->second.table = std::move(table);
        }
    }
    return made;
}

}  // namespace podsim::sim
