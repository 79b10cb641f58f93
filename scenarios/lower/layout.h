// Where a run takes place: all chips of the slices, or one for each class of chips that do the same.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/paths/shift_table.h"
#include "collectives/vocabulary/group.h"
#include "scenarios/spec/hardware.h"
#include "scenarios/spec/request.h"
#include "topology/lattice/places.h"

namespace podsim::scenarios {

/// Where a run takes place.
struct Layout {
    topology::Places places;  ///< that are simulated
    topology::Places folded;  ///< one representative of each class; `places` unless the fold is off
    topology::Point host_box{1, 1, 1};  ///< chips of one host

    [[nodiscard]] collectives::ShiftTable shifts() const {
        return collectives::ShiftTable(places, host_box);
    }
    /// The simulated place that stands for a representative.
    [[nodiscard]] std::size_t place_of(int representative) const {
        return static_cast<std::size_t>(
            places.index(folded.point(representative), folded.slice_of(representative)));
    }
};

/// The places to simulate for traffic among these members. `unlike`: members that do not all do the same
/// work, so that none stands for another.
Layout lay_out(const Hardware& hardware, Fold fold,
               const std::vector<collectives::Members>& members,
               const collectives::Members& unlike = {});

}  // namespace podsim::scenarios
