// What has been found out of schedules that several workloads on the same places have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/mirror/images.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// What a mirror makes of the transfers of a schedule.
struct TransferImages {
    std::vector<std::uint32_t> of;  ///< [transfer]: its image
    std::vector<std::uint64_t>
        ranks;  ///< [transfer]: common to its images by this mirror and those before
};

/// What is left of a schedule for the places that are kept.
struct FoldedSchedule {
    std::shared_ptr<const Schedule> schedule;
    std::vector<std::uint32_t> from;  ///< [transfer]: in the original
};

/// For one list of mirrors, and machines whose shifts begin alike: each may have more of them than the one before.
class KnownImages {
public:
    struct OfSchedule {
        std::optional<ScheduleFacts> facts;
        /// By those of the mirrors that were taken in before, as bits, and the next: nullptr where that is no symmetry.
        std::map<std::pair<std::uint32_t, std::size_t>, std::shared_ptr<const TransferImages>>
            images;
        std::map<std::uint32_t, FoldedSchedule> folded;  ///< by those taken in
    };

    /// From now on what is found out of this schedule is kept, and so is the schedule.
    void keep(const std::shared_ptr<const Schedule>& schedule) {
        kept_.try_emplace(schedule.get(), Kept{schedule, {}});
    }
    /// Of a schedule that is kept; nullptr for others.
    [[nodiscard]] OfSchedule* of(const Schedule& schedule) {
        const auto found = kept_.find(&schedule);
        return found == kept_.end() ? nullptr : &found->second.known;
    }

private:
    struct Kept {
        std::shared_ptr<const Schedule> schedule;
        OfSchedule known;
    };
    std::map<const Schedule*, Kept> kept_;  ///< looked up alone: their order is of no matter
};

}  // namespace podsim::sim
