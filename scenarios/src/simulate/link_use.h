// Busy time and bytes of each class of links in a run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/simulate/layout.h"
#include "sim/base/quantity.h"
#include "sim/workload/result.h"
#include "topology/mesh/exchange.h"

namespace podsim::scenarios {

struct LinkUse {
    std::string name;             ///< `ici_x`, `ici_y`, `ici_z`, `pcie`, `dcn`, `hbm`
    double busy_fraction = 0;     ///< fraction of the run, mean over the links of the class
    sim::Bytes bytes;             ///< per link, mean over the links of the class
    double busiest_fraction = 0;  ///< of the link that is busy longest
    sim::Bytes busiest_bytes{};   ///< of the link that carries most
    /// The summands of busy_fraction, for an HBM.
    std::vector<std::pair<std::string, double>> by_user{};
};

/// Returns the use of each class of links in a run: busy time as a fraction of the run and bytes
/// per link, as the mean and for the busiest link. Covers the representatives, which an unfolded
/// run repeats. `written` maps axes to the names x, y and z (DeviceMesh::written).
std::vector<LinkUse> link_use(const Hardware& hardware, const Layout& layout,
                              const sim::ExecutionResult& result,
                              const topology::AxisExchange& written = {});

}  // namespace podsim::scenarios
