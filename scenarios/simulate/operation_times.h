// How long a step's operations take alone: what a compiler's scheduler goes by.
#pragma once

#include <vector>

#include "scenarios/spec/hardware.h"
#include "topology/mesh/mesh.h"
#include "workloads/program/step_program.h"
#include "workloads/schedule/latency_hiding.h"

namespace podsim::scenarios {

/// By program and operation, at the rates that the profile reaches. Compute takes what it takes in the simulation where the HBM
/// is its own. A collective takes its launch cost and the larger of its physical bound and the reference text's time, which
/// counts the latency of its hops; a ring step its bytes over one link and a hop's latency; what comes from the host its bytes at
/// PCIe's rate and latency; a handover nothing, since who waits for it waits for another stage. Perturbations are not counted: a
/// compiler knows nothing of them.
std::vector<workloads::OperationTimes> operation_times(const workloads::StepPrograms& programs,
                                                       const AchievedHardware& hardware,
                                                       const topology::DeviceMesh& mesh);

}  // namespace podsim::scenarios
