// What a mirror makes of the transfers of a schedule, if it is a symmetry of it (fold_by_mirrors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/mirror/fold_by_mirrors.h"
#include "sim/mirror/schedule_facts.h"

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

/// Lowers each value to that of its image where that is less. Whether any has been.
template <class Value>
bool lower_to_images(std::vector<Value>& values, const std::vector<std::uint32_t>& image) {
    bool lowered = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (image[i] != kNoImage && values[image[i]] < values[i]) {
            values[i] = values[image[i]];
            lowered = true;
        }
    }
    return lowered;
}

/// Whether any place's image is another.
bool moves_places(const Mirror& mirror);

/// [transfer]: its image, whatever the order at links; nothing where the mirror is no symmetry of the schedule.
std::optional<std::vector<std::uint32_t>> images_of_transfers(const Schedule& schedule,
                                                              const ScheduleFacts& facts,
                                                              const AlikeShifts& alike,
                                                              const MirroredMachine& mirrored);

}  // namespace podsim::sim
