// The places of a run: all chips of the slices, or one for each class of chips that do the same,
// with mirror images.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "collectives/paths/shift_table.h"
#include "collectives/vocabulary/group.h"
#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/request.h"
#include "sim/folding/fold_by_mirrors.h"
#include "sim/folding/known_images.h"
#include "topology/lattice/places.h"

namespace podsim::scenarios {

/// The places at which a run is simulated.
struct Layout {
    topology::Places places;  ///< places that are simulated, or are mirror images of those
    topology::Places folded;  ///< one representative of each class; `places` if the fold is off
    topology::Point host_box{1, 1, 1};  ///< chips of one host
    /// The places that are simulated; all if not set.
    std::optional<sim::Representatives> mirrored;

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
    /// The simulated link that stands for a representative's link at `port`; a place has `ports`
    /// ports.
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

/// Returns the places to simulate for traffic among these members. `unlike` are members that do not
/// all do the same work, so that none stands for another.
Layout lay_out(const Hardware& hardware, Fold fold,
               const std::vector<collectives::Members>& members,
               const collectives::Members& unlike = {});

/// Keeps one place of each set of mirror images along the axes, in the workload and in the layout,
/// if the workload is symmetric (sim/folding); otherwise changes nothing. `known` caches what
/// earlier calls found about schedules on these places.
void fold_mirror_images(Fold fold, sim::Workload& workload, Layout& layout,
                        sim::KnownImages* known = nullptr);

}  // namespace podsim::scenarios
