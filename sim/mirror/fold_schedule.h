// A schedule for the places that are kept of a workload that is its own mirror image.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/mirror/fold_by_mirrors.h"
#include "sim/mirror/known_images.h"

namespace podsim::sim {

/// The group that the mirrors generate, and what it does to places: element e applies the mirrors whose bits it has.
struct Orbits {
    std::vector<const Mirror*> mirrors;
    std::vector<std::vector<std::uint32_t>> ports;  ///< [element][port]: its image
    std::vector<std::uint32_t> element;         ///< [place]: that takes it to its representative
    std::vector<std::uint32_t> representative;  ///< [place]: a place of the original
    std::vector<std::uint32_t> kept;            ///< the representatives, ascending
    std::vector<std::uint32_t> number;          ///< [place]: of its representative, in `kept`
};

/// Of mirrors that commute; nothing where a product of them leaves a place where it is.
std::optional<Orbits> orbits_of(const Machine& machine, std::vector<const Mirror*> mirrors);

/// What a mirror group makes of a schedule: [mirror], each with the ranks that are common to the images of those up to it.
using ScheduleImages = std::vector<std::shared_ptr<const TransferImages>>;

/// The schedule with a role for each kind of kept place: those of one role whose messages lead to places that are
/// turned alike and of one kind.
FoldedSchedule fold_schedule(const Schedule& schedule, const Machine& machine, const Orbits& orbits,
                             const ScheduleImages& images);

/// Of a schedule that differs from one that was folded in bytes alone, by the same images.
FoldedSchedule with_bytes_of(const FoldedSchedule& folded, const Schedule& schedule);

}  // namespace podsim::sim
