// Every picosecond of a chip's compute stream: what it did, and for what it waited while it did nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/explain/shares.h"
#include "scenarios/run/run_record.h"
#include "scenarios/run/run_step.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The name of the wait for another program.
inline constexpr const char* kBubble = "bubble";
/// Of the wait for members of a group that have more to do before a collective.
inline constexpr const char* kImbalance = "imbalance";

/// What a chip's compute stream did for a while, or waited for.
struct Stretch {
    sim::Time from;
    sim::Time until;
    std::string name;  ///< of the pass; of what is waited for as in StreamAccount
    bool busy = false;
    std::string cause{};  ///< of a wait: Share::cause
    /// What it did, or what held it up; kWholeStep where that is the end of others.
    workloads::OpIndex op = workloads::kWholeStep;
};
/// What a wait of that name is a part of: `AllGather over fsdp (weights)` of `collectives over fsdp`, either way to the host of
/// `PCIe (offload)`, others of themselves. What was written of a step goes by its names, too.
std::string cause_of_wait(const std::string& name);

/// `AllGather`, `ReduceScatter`: the name of a collective of a step.
std::string_view name_of(collectives::Operation operation);

/// All of them, in order of time, from 0 to `end_of_run` without gaps or overlaps.
std::vector<Stretch> stream_of(const workloads::StepProgram& program, const ChipRun& chip,
                               sim::Time end_of_run);

/// The time from 0 to the end of the stream in which a link is not held, by what the stream did meanwhile.
std::vector<Share> idle_by_cause(const std::vector<Interval>& held,
                                 const std::vector<Stretch>& stream);

/// The reported chip's compute stream: what it did, and for what it waited while it did nothing.
struct StreamAccount {
    sim::Time end;  ///< busy + waited == end
    sim::Time busy;
    sim::Time waited;
    std::vector<Share> by_pass;  ///< of busy
    /// Of waited, by the collectives on the chain that held the stream up. The wait for another program's
    /// bytes is `bubble` until they are sent, from then on the handover's; that for a collective of programs of unequal
    /// work `imbalance` until the last member begins it, from then on the collective's.
    std::vector<Share> waited_for;
};
/// What a chip waits at its end for others of its stage is `imbalance`, too.
StreamAccount account_stream(const workloads::StepProgram& program, const ChipRun& chip,
                             sim::Time end_of_run);

/// How long a chip's compute stream works.
sim::Time busy_of(const workloads::StepProgram& program, const ChipRun& chip);

/// What one microbatch takes on average in each kind of unit: the layers' compute, and the collectives that block it.
workloads::PassTimes account_passes(const workloads::StepProgram& program,
                                    const std::vector<workloads::PipelineUnit>& order,
                                    const ChipRun& chip);

}  // namespace podsim::scenarios
