// Where a run takes place: all chips of the slices, or one for each class of chips that do the same, their mirror images
// included.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/paths/shift_table.h"
#include "collectives/vocabulary/group.h"
#include "scenarios/spec/hardware.h"
#include "scenarios/spec/request.h"
#include "sim/mirror/fold_by_mirrors.h"
#include "sim/mirror/known_images.h"
#include "topology/lattice/places.h"

namespace podsim::scenarios {

/// Where a run takes place.
struct Layout {
    topology::Places places;  ///< that are simulated, or are mirror images of those
    topology::Places folded;  ///< one representative of each class; `places` unless the fold is off
    topology::Point host_box{1, 1, 1};  ///< chips of one host
    std::optional<sim::Representatives>
        mirrored;  ///< which of the places are simulated; all if not set

    [[nodiscard]] collectives::ShiftTable shifts() const {
        return collectives::ShiftTable(places, host_box);
    }
    [[nodiscard]] std::size_t simulated() const {
        return mirrored ? mirrored->simulated : static_cast<std::size_t>(places.size());
    }
    /// The simulated place that stands for a representative.
    [[nodiscard]] std::size_t place_of(int representative) const {
        const std::size_t place = unmirrored(representative);
        return mirrored ? mirrored->place[place] : place;
    }
    /// The simulated link, of so many ports a place, that stands for one of a representative.
    [[nodiscard]] std::size_t link_of(int representative, std::size_t port,
                                      std::size_t ports) const {
        const std::size_t seen = mirrored ? mirrored->port[unmirrored(representative)][port] : port;
        return place_of(representative) * ports + seen;
    }

    /// A representative's own place, which may be a mirror image of a simulated one.
    [[nodiscard]] std::size_t unmirrored(int representative) const {
        return static_cast<std::size_t>(
            places.index(folded.point(representative), folded.slice_of(representative)));
    }
};

/// The places to simulate for traffic among these members. `unlike`: members that do not all do the same
/// work, so that none stands for another.
Layout lay_out(const Hardware& hardware, Fold fold,
               const std::vector<collectives::Members>& members,
               const collectives::Members& unlike = {});

/// Leaves of mirror images along the axes one place, where the workload is symmetric (sim/mirror): in the workload and in the
/// layout. A workload that is not is left as it is.
/// `known`: what was found out of schedules on these places before.
void fold_mirror_images(Fold fold, sim::Workload& workload, Layout& layout,
                        sim::KnownImages* known = nullptr);

}  // namespace podsim::scenarios
