// How much of a run each class of links was held, and what they carried.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/lower/layout.h"
#include "scenarios/spec/hardware.h"
#include "sim/base/quantity.h"
#include "sim/workload/result.h"
#include "topology/mesh/exchange.h"

namespace podsim::scenarios {

struct LinkUse {
    std::string name;             ///< `ici_x`, `ici_y`, `ici_z`, `pcie`, `dcn`, `hbm`
    double busy_fraction = 0;     ///< of the run, mean over the links of the class
    sim::Bytes bytes;             ///< per link, mean over the links of the class
    double busiest_fraction = 0;  ///< of the link that is busy longest
    sim::Bytes busiest_bytes{};   ///< of the link that carries most
    std::vector<std::pair<std::string, double>>
        by_user{};  ///< of an HBM: the parts of busy_fraction
};

/// Use of each class of links over a run, over the representatives (which an unfolded run repeats):
/// busy time over the run's, and bytes per link, of the mean and of the busiest link.
/// `written`: which axis is called x (DeviceMesh::written).
std::vector<LinkUse> link_use(const Hardware& hardware, const Layout& layout,
                              const sim::ExecutionResult& result,
                              const topology::AxisExchange& written = {});

}  // namespace podsim::scenarios
