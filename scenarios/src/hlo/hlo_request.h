// Requests to simulate an HLO module.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/request.h"
#include "workloads/hlo/module.h"
#include "workloads/hlo/totals.h"

namespace podsim::scenarios {

/// A module, and the rules for its costs.
struct HloInput {
    workloads::hlo::Module module;
    workloads::hlo::CostRules rules;
    workloads::hlo::GivenTrips trips;
    std::int64_t devices = 1;
};

/// `fsdp: x y z` or `fsdp: 512`, slowest first. If empty, the axes are those of the module's
/// groups.
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
