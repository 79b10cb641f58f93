// What is asked of an HLO module.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/spec/hardware.h"
#include "scenarios/spec/request.h"
#include "workloads/hlo/module.h"
#include "workloads/hlo_totals/totals.h"

namespace podsim::scenarios {

/// A module, and how its costs are found.
struct HloInput {
    workloads::hlo::Module module;
    workloads::hlo::CostRules rules;
    workloads::hlo::GivenTrips trips;
    std::int64_t devices = 1;
};

/// `fsdp: x y z` or `fsdp: 512`, slowest first; none: the axes that the module's groups show.
using MeshText = std::vector<std::pair<std::string, std::string>>;

struct HloRequest {
    HloInput input;
    IdealHardware hardware;
    MeshText mesh;
    Fold fold = Fold::automatic;
    bool explain = true;      ///< with critical path and gap
    bool keep_trail = false;  ///< for a timeline
};

}  // namespace podsim::scenarios
