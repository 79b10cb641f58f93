// Images of a schedule's transfers under a mirror, if it is a symmetry of the schedule
// (fold_by_mirrors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/folding/fold_by_mirrors.h"
#include "sim/folding/schedule_facts.h"

namespace podsim::sim {

/// Classes of a machine's shifts: shifts that map every place to the same place are one class.
struct AlikeShifts {
    explicit AlikeShifts(const Machine& machine);

    std::vector<std::uint32_t> first;  ///< [shift]: the first of its class
};

/// No shift of the machine does what the image of this shift does.
inline constexpr std::uint32_t kNoImage = 0xffffffff;

/// Returns [shift]: the first shift that maps the image of every place p to the image of shift(p).
std::vector<std::uint32_t> images_of_shifts(const Machine& machine, const AlikeShifts& alike,
                                            const Mirror& mirror);

/// A mirror with its images of the shifts.
struct MirroredMachine {
    const Mirror* mirror = nullptr;
    std::vector<std::uint32_t> shift;
};

/// Lowers each value to that of its image if that is lower. Returns true if any value has changed.
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

/// True if any place's image is another place.
bool moves_places(const Mirror& mirror);

/// Returns [transfer]: its image, regardless of the order at links; nullopt if the mirror is no
/// symmetry of the schedule.
std::optional<std::vector<std::uint32_t>> images_of_transfers(const Schedule& schedule,
                                                              const ScheduleFacts& facts,
                                                              const AlikeShifts& alike,
                                                              const MirroredMachine& mirrored);

}  // namespace podsim::sim
