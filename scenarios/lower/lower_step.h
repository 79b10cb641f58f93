// From step programs to a workload of the kernel: one task per operation, one schedule per kind of
// collective, on the places that are simulated.
//
// Several programs run at the ranks of logical axes: those ranks are not folded onto each other. A collective is one
// operation of the programs that share it (program.h), from which all other places are absent; a handover is one
// operation with its senders in one program and its receivers in another.
#pragma once

#include <vector>

#include "scenarios/lower/lowering.h"
#include "sim/workload/observer.h"
#include "workloads/analytic/analytic.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The ideal rates, which the estimates use whatever the profile.
workloads::MachineRates machine_rates(const Hardware& hardware);
/// Those that the profile reaches, which the simulation uses.
workloads::MachineRates achieved_rates(const Hardware& hardware);

struct LoweredStep {
    sim::Workload workload;   ///< task i of graph p is operation i of program p
    std::size_t members = 1;  ///< programs of each stage (StepPrograms)
    Layout layout;
    /// By kernel operation: the operations of a handover's two programs; kWholeStep for collectives.
    struct HandoverEnds {
        workloads::OpIndex sends = workloads::kWholeStep;
        workloads::OpIndex receives = workloads::kWholeStep;
    };
    std::vector<HandoverEnds> handovers;
    /// Of a collective over an axis whose members do unequal work, by kernel operation: an index of `groups`;
    /// kRingStep; of all others kNoGroups.
    std::vector<std::uint32_t> groups_of_operation;
    std::vector<std::vector<std::uint32_t>> groups;  ///< [groups][place]: which group a place is in

    static constexpr std::uint32_t kNoGroups = 0xffffffff;
    static constexpr std::uint32_t kRingStep = 0xfffffffe;  ///< from one member to the next
};

/// Operations are numbered by their place in their programs, of one place by program.
LoweredStep lower_step(const workloads::StepPrograms& programs, const Hardware& hardware,
                       const topology::DeviceMesh& mesh, Fold fold);

/// Gives the tasks of a lowered step the durations that they have on hardware with the same links, and says
/// whether one of them has changed. It is then what lower_step makes of that hardware: neither what compute takes
/// nor the launch cost decides how collectives are carried out.
bool retime(const workloads::StepPrograms& programs, const Hardware& hardware, LoweredStep& step);

/// What one chip did, by operation of its program.
struct ChipRun {
    int representative = 0;
    std::vector<sim::Time> began;
    /// Of a handover that is sent, when the last byte arrived: until then the sender holds it.
    std::vector<sim::Time> ended;
    /// When the others were ready: of a handover that is received, when its sender let go; of a collective over
    /// an axis of unequal work, when the last member of the chip's group began (of a ring step the one before it).
    /// Else 0.
    std::vector<sim::Time> sent;
};

struct StepRun {
    sim::ExecutionResult result;
    /// That of the chip that ended last (the first such); of its stage's members, of the one that computes longest.
    std::size_t program = 0;
    std::vector<ChipRun> chips;  ///< of each program, the chip that ended last (the first such)

    /// The chip of that program.
    [[nodiscard]] const ChipRun& reported() const { return chips[program]; }
};

/// The time that a graph's compute stream works.
sim::Time work_of(const sim::TaskGraph& graph);

/// With `reuse`, repeating layers are played once (sim/executor/executor.h). `watch` sees how far the run is.
StepRun run_step(const LoweredStep& step, bool reuse = true, RunWatch* watch = nullptr);

}  // namespace podsim::scenarios
