// From step programs to a workload of the kernel: one task per operation, one schedule per kind of
// collective, on the places that are simulated.
//
// Several programs run at the ranks of logical axes: those ranks are not folded onto each other. A collective is one
// operation of the programs that share it (program.h), from which all other places are absent; a handover is one
// operation with its senders in one program and its receivers in another.
#pragma once

#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "scenarios/lower/known_collectives.h"
#include "scenarios/lower/layout.h"
#include "scenarios/watch/watch.h"
#include "sim/workload/task_graph.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct LoweredStep {
    sim::Workload workload;   ///< task i of graph p is operation i of program p
    std::size_t members = 1;  ///< programs of each stage (StepPrograms)
    Layout layout;
    /// By kernel operation: what carries out a collective; `automatic` of ring steps, handovers and host transfers.
    std::vector<collectives::Algorithm> algorithms;
    /// By kernel operation: the operations of a handover's two programs; kWholeStep for collectives.
    struct HandoverEnds {
        workloads::OpIndex sends = workloads::kWholeStep;
        workloads::OpIndex receives = workloads::kWholeStep;
    };
    std::vector<HandoverEnds> handovers;
    /// Of a collective over an axis whose members do unequal work, by kernel operation: an index of `groups`;
    /// kRingStep; of all others kNoGroups.
    std::vector<std::uint32_t> groups_of_operation;
    /// [groups][place]: which group a place of the layout is in, be it simulated or a mirror image.
    std::vector<std::vector<std::uint32_t>> groups;

    static constexpr std::uint32_t kNoGroups = 0xffffffff;
    static constexpr std::uint32_t kRingStep = 0xfffffffe;  ///< from one member to the next
};

/// Operations are numbered by their place in their programs, of one place by program.
/// `known`: what steps before have found of their collectives.
LoweredStep lower_step(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
                       const topology::DeviceMesh& mesh, Fold fold, Watch* watch = nullptr,
                       KnownCollectives* known = nullptr);

}  // namespace podsim::scenarios
