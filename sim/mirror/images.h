// What a mirror makes of the transfers of a schedule, if it is a symmetry of it (fold_by_mirrors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/mirror/fold_by_mirrors.h"

namespace podsim::sim {

/// The shifts of a machine by what they do: those that lead from every place to the same are one.
struct AlikeShifts {
    explicit AlikeShifts(const Machine& machine);

    std::vector<std::uint32_t> first;  ///< [shift]: the first that does the same
};

/// Nothing: no shift of the machine does what the image of that one does.
inline constexpr std::uint32_t kNoImage = 0xffffffff;

/// [shift]: the first that leads from the image of every place to the image of where that shift leads.
std::vector<std::uint32_t> images_of_shifts(const Machine& machine, const AlikeShifts& alike,
                                            const Mirror& mirror);

/// A mirror with what it makes of the shifts.
struct MirroredMachine {
    const Mirror* mirror = nullptr;
    std::vector<std::uint32_t> shift;
};

/// What is asked of a schedule whatever the mirror.
struct ScheduleFacts {
    ScheduleFacts(const Schedule& schedule, const AlikeShifts& alike);

    /// A transfer by a hash of what it does, and rank.
    struct Doing {
        std::uint64_t hash = 0;
        std::uint64_t rank = 0;
        std::uint32_t transfer = 0;
    };
    /// Transfers of a role that do the same, seen in whichever mirror: a stretch of `doings`.
    struct Kind {
        std::uint64_t hash = 0;
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    [[nodiscard]] std::span<const Kind> kinds_of(std::size_t role) const {
        return std::span(kinds).subspan(first_kind[role], first_kind[role + 1] - first_kind[role]);
    }

    std::vector<Doing> doings;            ///< role by role as the transfers, in each in order
    std::vector<Kind> kinds;              ///< role by role, in each in the order of hashes
    std::vector<std::size_t> first_kind;  ///< [role], and the end
    bool kinds_differ_in_hash = true;     ///< where two share one, nothing is shown of the schedule
    std::vector<std::uint32_t> by_rank;   ///< transfers, in the order of their ranks
    std::size_t phases = 0;               ///< of hops: all are below it
};

/// [transfer]: its image, whatever the order at links; nothing where the mirror is no symmetry of the schedule.
std::optional<std::vector<std::uint32_t>> images_of_transfers(const Schedule& schedule,
                                                              const ScheduleFacts& facts,
                                                              const AlikeShifts& alike,
                                                              const MirroredMachine& mirrored);

}  // namespace podsim::sim
