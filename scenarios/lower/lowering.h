// From chips and collectives to places, servers and schedules.
#pragma once

#include <string>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/catalogue/bounds.h"
#include "collectives/paths/link_model.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/scenario.h"
#include "sim/executor/executor.h"
#include "sim/workload/machine.h"
#include "topology/lattice/places.h"

namespace podsim::scenarios {

/// The hardware with the rates that its profile reaches: HBM, ICI and DCN by their shares, the launch cost, and the
/// efficiency of matmuls as it was. What is simulated runs on it; estimates stay on the ideal one.
Hardware achievable(const Hardware& hardware);

/// How many times as long as on one slice compute takes when several must keep in step: the slowest sets the pace.
/// 1 + straggler x log2(hosts / hosts of a slice), the logarithm linear between powers of two.
double pace_of_slowest_slice(const Hardware& hardware);

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

/// The ICI links of one hardware, and those of chips and hosts where `shifts` leads to hosts, at
/// its rates. `shifts` holds the displacements of every schedule that will run there.
sim::Machine build_machine(const Hardware& hardware, const collectives::ShiftTable& shifts);

/// The link that every collective of this hardware runs on.
collectives::LinkModel link_model(const Hardware& hardware);

/// How schedules are built on those places.
collectives::ScheduleOptions schedule_options(const Hardware& hardware, const Layout& layout);

/// PCIe and DCN of one slice.
collectives::SliceLinks slice_links(const Hardware& hardware);

/// Use of each class of links over a run, over the representatives (which an unfolded run repeats):
/// busy time over the run's, and bytes per link, of the mean and of the busiest link.
std::vector<LinkUse> link_use(const Hardware& hardware, const Layout& layout,
                              const sim::ExecutionResult& result);

}  // namespace podsim::scenarios
