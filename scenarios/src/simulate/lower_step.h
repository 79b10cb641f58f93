// Lowering of step programs to a workload of the kernel: one task per operation and one schedule
// per kind of collective, on the simulated places.
//
// Several programs run at the ranks of logical axes; those ranks are not folded onto each other. A
// collective is one operation of the programs that share it (step_program.h), from which all other
// places are absent. A handover is one operation with its senders in one program and its receivers
// in another.
#pragma once

#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "scenarios/src/base/watch.h"
#include "scenarios/src/simulate/known_collectives.h"
#include "scenarios/src/simulate/layout.h"
#include "sim/workload/task_graph.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct LoweredStep {
    sim::Workload workload;   ///< task i of graph p is operation i of program p
    std::size_t members = 1;  ///< programs of each stage (StepPrograms)
    Layout layout;
    /// The algorithm of each kernel operation; `automatic` for ring steps, handovers and host
    /// transfers.
    std::vector<collectives::Algorithm> algorithms;
    /// By kernel operation: the operations of a handover's two programs; kWholeStep for
    /// collectives.
    struct HandoverEnds {
        workloads::OpIndex sends = workloads::kWholeStep;
        workloads::OpIndex receives = workloads::kWholeStep;
    };
    std::vector<HandoverEnds> handovers;
    /// By kernel operation: an index of `groups` for a collective over an axis whose members do
    /// unequal work, kRingStep for a ring step over it, kNoGroups for all others.
    std::vector<std::uint32_t> groups_of_operation;
    /// [groups][place]: the group of a place of the layout, simulated or a mirror image.
    std::vector<std::vector<std::uint32_t>> groups;

    static constexpr std::uint32_t kNoGroups = 0xffffffff;
    static constexpr std::uint32_t kRingStep = 0xfffffffe;  ///< from one member to the next
};

/// Lowers the step programs. Operations are numbered by their index in their programs, and at one
/// index by program. `known` caches what earlier steps found about their collectives.
LoweredStep lower_step(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
                       const topology::DeviceMesh& mesh, Fold fold, Watch* watch = nullptr,
                       KnownCollectives* known = nullptr);

}  // namespace podsim::scenarios
