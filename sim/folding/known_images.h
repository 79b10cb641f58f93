// A cache of facts about schedules that several workloads on the same places share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/folding/images.h"
#include "sim/workload/schedule.h"

namespace podsim::sim {

/// The images of a schedule's transfers under a mirror.
struct TransferImages {
    std::vector<std::uint32_t> of;  ///< [transfer]: its image
    /// [transfer]: common to its images by this mirror and those before.
    std::vector<std::uint64_t> ranks;
};

/// The rest of a schedule, for the kept places.
struct FoldedSchedule {
    std::shared_ptr<const Schedule> schedule;
    std::vector<std::uint32_t> from;  ///< [transfer]: index in the original
};

/// A cache for one list of mirrors, and for machines whose shifts have a common beginning: each may
/// have more shifts than the one before.
class KnownImages {
public:
    struct OfSchedule {
        std::optional<ScheduleFacts> facts;
        /// By the mirrors accepted before, as bits, and the next mirror; nullptr if that is no
        /// symmetry.
        std::map<std::pair<std::uint32_t, std::size_t>, std::shared_ptr<const TransferImages>>
            images;
        std::map<std::uint32_t, FoldedSchedule> folded;  ///< by accepted mirrors
    };

    /// Keeps the schedule, and all later facts about it.
    void keep(const std::shared_ptr<const Schedule>& schedule) {
        kept_.try_emplace(schedule.get(), Kept{schedule, {}});
    }
    /// Returns the facts of a kept schedule; nullptr for others.
    [[nodiscard]] OfSchedule* of(const Schedule& schedule) {
        const auto found = kept_.find(&schedule);
        return found == kept_.end() ? nullptr : &found->second.known;
    }

private:
    struct Kept {
        std::shared_ptr<const Schedule> schedule;
        OfSchedule known;
    };
    /// Only looked up: its order does not matter.
    std::map<const Schedule*, Kept> kept_;
};

}  // namespace podsim::sim
