// What separates a step from its bound: the same step again without one cause after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/explain/shares.h"
#include "scenarios/lower/lower_step.h"
#include "scenarios/ranks/threads.h"
#include "scenarios/run/run_step.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "workloads/program/step_program.h"
#include "workloads/roofline/roofline.h"

namespace podsim::scenarios {

/// The run without `cause` plays more events than it may.
class ExceedsLimit : public std::runtime_error {
public:
    explicit ExceedsLimit(const std::string& cause) : std::runtime_error(cause) {}
};

/// step_time - roofline_lower, in named terms that add up exactly.
///
/// Causes are removed one after the other from the same step, and the difference in step time is
/// that cause's term (it can be negative where a delay happens to help):
///   perturbations
///   stragglers, kernels below peak, links below their rate, launch, host between steps
///               the factors of the profile; what follows is about the sound and ideal machine
///   launch      the catalogue's launch cost of collectives
///   latency     the latency of links
///   contention  collectives of the step sharing links (only where compute or HBM is the bound:
///               where links are, the bound itself counts all traffic of the links)
/// What is then left is read off that last run, on the resource that is the bound:
///   compute  padding, HBM time beyond the MXU's, VPU time beyond both, and the time that the compute stream
///            waits, by collective and mesh axis (`exposed ...`); with several programs `uneven stages` (`uneven work`
///            where members of a stage differ), what the reported chip has less to compute than the one that has
///            most (negative)
///   HBM      MXU time beyond the HBM's, VPU time beyond both, and the same waits; where the bound counts what messages read
///            and write, less that (`HBM of messages`, never above zero), since it goes on beside these
///   VPU      MXU time beyond the VPU's, HBM time beyond both, and the same waits
///   links    `uneven links`: the busiest link of the bound's class (ICI axes, DCN, PCIe) carries more than the bound counts;
///            `idle links: ...`: it rests, while the compute stream of its program's chip is at that pass, or waits
///            (`exposed ...`) for what crosses other links or is on its way
/// `rounding` is each operation's rounding up to a picosecond.
///
/// The runs depend on nothing but their own lowered steps, so they go on beside each other and beside the
/// scenario's own; a step that has the same tasks and links as before is not run again. All are folded, which
/// changes no time.
class StepGap {
public:
    struct Options {
        bool reuse = true;
        std::uint64_t most_played = std::numeric_limits<std::uint64_t>::max();  ///< by each run
        Watch* watch = nullptr;
        CollectivesOfThreads* known =
            nullptr;  ///< what steps before have found of their collectives
    };

    /// Begins the runs. `folded` is the scenario's own step. Keeps references to the arguments.
    StepGap(const Scenario& scenario, const workloads::StepPrograms& programs,
            const LoweredStep& folded, const workloads::LowerBound& lower, Options options);
    ~StepGap();
    StepGap(const StepGap&) = delete;
    StepGap& operator=(const StepGap&) = delete;

    /// Waits for the runs; `run` is that of the scenario's own step. Throws what they throw, and ExceedsLimit with the first cause
    /// whose run was ended.
    [[nodiscard]] std::vector<Share> shares(const StepRun& run);

private:
    /// The step without a cause, and all that were removed before.
    struct Without {
        std::string cause;
        LoweredStep step;
        StepRun run;
        bool same = false;      ///< as before the cause was removed: there is no run
        bool exceeded = false;  ///< it was ended, since it played too many events
    };

    [[nodiscard]] bool link_bound() const;
    void remove_from_hardware();
    void remove_from_step();
    /// `step` is what remains.
    void begin(const char* cause, LoweredStep step);
    void start(bool last);
    /// Calls `work` beside the caller; what it throws is kept, and ends all runs.
    template <class Work>
    void beside(Work work);
    void nothing_changes(const char* cause);
    [[nodiscard]] const LoweredStep& latest() const;
    void read_off(const StepRun& last, std::vector<Share>& gap) const;

    const Scenario& scenario_;
    const workloads::StepPrograms& programs_;
    const LoweredStep& folded_;
    const workloads::LowerBound& lower_;
    const bool reuse_;
    CollectivesOfThreads* const known_;
    const std::uint64_t most_played_;
    std::list<Without> without_;
    Without* waiting_ = nullptr;      ///< the latest, whose run has not been started
    std::ptrdiff_t of_hardware_ = 0;  ///< so many of them, the first ones, are reported even if 0
    mutable PhaseWatch watch_;
    std::mutex failing_;
    std::exception_ptr failure_;  ///< the first one of a run
    TaskGroup runs_;
};

}  // namespace podsim::scenarios
