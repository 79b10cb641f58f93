// Dead links of the torus, which carry nothing in either direction.
#pragma once

#include <optional>
#include <vector>

#include "topology/lattice/places.h"

namespace podsim::topology {

class DeadLinks {
public:
    DeadLinks() = default;
    explicit DeadLinks(const Places& places)
        : places_(places), dead_(static_cast<std::size_t>(places.size()) * kAxes) {}

    [[nodiscard]] const Places& places() const { return places_; }

    /// Adds the link from a place towards higher coordinates along an axis.
    void add(int place, int axis) {
        dead_[slot(place, axis)] = true;
        axes_ |= 1U << axis;
    }

    /// Axes with dead links: bit a for axis a.
    [[nodiscard]] unsigned axes() const { return axes_; }

    /// True if the link that leaves a place along `axis` in `direction` (+1, -1) is dead or
    /// missing.
    [[nodiscard]] bool blocked(int place, int axis, int direction) const;

    /// Returns the place one link further; nullopt beyond an edge.
    [[nodiscard]] std::optional<int> next(int place, int axis, int direction) const;

private:
    [[nodiscard]] static std::size_t slot(int place, int axis) {
        return static_cast<std::size_t>(place) * kAxes + static_cast<std::size_t>(axis);
    }

    Places places_;
    std::vector<bool> dead_;
    unsigned axes_ = 0;
};

}  // namespace podsim::topology
