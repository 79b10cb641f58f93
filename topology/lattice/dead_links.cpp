#include "topology/lattice/dead_links.h"

namespace podsim::topology {

std::optional<int> DeadLinks::next(int place, int axis, int direction) const {
    const auto point = places_.chips.canonical(places_.point(place) + along(axis, direction));
    if (!point.has_value()) {
        return std::nullopt;
    }
    return places_.index(*point, places_.slice_of(place));
}

bool DeadLinks::blocked(int place, int axis, int direction) const {
    const std::optional<int> there = next(place, axis, direction);
    return !there.has_value() || dead_[slot(direction > 0 ? place : *there, axis)];
}

}  // namespace podsim::topology
