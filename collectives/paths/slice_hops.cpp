#include "collectives/paths/slice_hops.h"

#include "collectives/paths/ports.h"

namespace podsim::collectives {

void add_hops_between_slices(const topology::SliceFactor& across, int ranks,
                             const topology::Point& chips, ShiftTable& shifts,
                             std::vector<sim::Hop>& hops) {
    const Shift there{.chips = chips, .slices = across, .ranks = ranks};
    Shift host_there = there;
    host_there.to_host = true;
    hops.push_back({shifts.number(Shift{}), kPcieToHost});
    hops.push_back({shifts.number(Shift{.to_host = true}), kDcnOut});
    hops.push_back({shifts.number(host_there), kDcnIn});
    hops.push_back({shifts.number(there), kPcieToChip});
}

}  // namespace podsim::collectives
