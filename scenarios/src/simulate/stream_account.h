// Account of every picosecond of a chip's compute stream: its work, and the causes of its waits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/simulate/run_record.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/shares.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Name of the wait for another program.
inline constexpr const char* kBubble = "bubble";
/// Name of the wait for members of a group that have more work before a collective.
inline constexpr const char* kImbalance = "imbalance";

/// A stretch of a chip's compute stream: work or a wait.
struct Stretch {
    sim::Time from;
    sim::Time until;
    std::string name;  ///< of the pass; for a wait as in StreamAccount
    bool busy = false;
    std::string cause{};  ///< of a wait: Share::cause
    /// The operation that ran or that was awaited; kWholeStep while the chip waits for the end of
    /// others.
    workloads::OpIndex op = workloads::kWholeStep;
};
/// Returns the cause to which a wait of that name belongs: `collectives over fsdp` for `AllGather
/// over fsdp (weights)`, `PCIe (offload)` for both directions to the host, the name itself for
/// others. The name suffices, so that it also serves results that were written earlier.
std::string cause_of_wait(const std::string& name);

/// Returns the name of a step's collective: `AllGather`, `ReduceScatter`.
std::string_view name_of(collectives::Operation operation);

/// Returns all stretches in order of time, from 0 to `end_of_run` without gaps or overlaps.
std::vector<Stretch> stream_of(const workloads::StepProgram& program, const ChipRun& chip,
                               sim::Time end_of_run);

/// Returns the time from 0 to the end of the stream in which a link is not held, by the stream's
/// activity meanwhile.
std::vector<Share> idle_by_cause(const std::vector<Interval>& held,
                                 const std::vector<Stretch>& stream);

/// Account of the reported chip's compute stream: its work, and the causes of its waits.
struct StreamAccount {
    sim::Time end;  ///< busy + waited == end
    sim::Time busy;
    sim::Time waited;
    std::vector<Share> by_pass;  ///< breakdown of busy
    /// Breakdown of waited, by the collectives on the chain that held the stream up. The wait for
    /// another program's bytes is `bubble` until they are sent, and the handover's afterwards. The
    /// wait for a collective of programs of unequal work is `imbalance` until the last member
    /// begins it, and the collective's afterwards.
    std::vector<Share> waited_for;
};
/// Accounts for the stream. A chip's wait at its end for others of its stage is also `imbalance`.
StreamAccount account_stream(const workloads::StepProgram& program, const ChipRun& chip,
                             sim::Time end_of_run);

/// Returns the time for which a chip's compute stream works.
sim::Time busy_of(const workloads::StepProgram& program, const ChipRun& chip);

/// Returns the mean time of one microbatch in each kind of unit: the layers' compute, and the
/// collectives that block it.
workloads::PassTimes account_passes(const workloads::StepProgram& program,
                                    const std::vector<workloads::PipelineUnit>& order,
                                    const ChipRun& chip);

}  // namespace podsim::scenarios
