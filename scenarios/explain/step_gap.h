// The terms between a step and its bound: the step runs again without each set of the machine's shortfalls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/changes/machine_changes.h"
#include "scenarios/explain/ledger.h"
#include "scenarios/explain/shares.h"
#include "scenarios/lower/lower_step.h"
#include "scenarios/ranks/threads.h"
#include "scenarios/run/run_step.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "workloads/program/step_program.h"
#include "workloads/roofline/roofline.h"

namespace podsim::scenarios {

/// All runs of a ledger together play about so many events at most, some eight seconds of one core.
inline constexpr std::uint64_t kMostPlayedByLedger = 40'000'000;

/// The run without `cause` plays more events than it may.
class ExceedsLimit : public std::runtime_error {
public:
    explicit ExceedsLimit(const std::string& cause) : std::runtime_error(cause) {}
};

/// step_time - roofline_lower, in named terms that add up exactly.
///
/// The shortfalls of the machine (changes/machine_changes.h) can be removed:
///   perturbations, stragglers, kernels below peak, links below their rate, launch, host between steps, latency,
///   HBM shared with collectives
/// The step runs without each set of those that are present, and the share of each is its Shapley value over these runs (ledger.h),
/// so that it does not depend on an order of removal. A share can be negative where a delay helps. More than six shortfalls
/// are merged as Shortfall::joins says; where all the runs would play more than kMostPlayedByLedger events, all but kernels and
/// links are one.
/// On the machine without any of them one more run tells
///   contention  collectives of the step sharing links (only where compute or HBM is the bound:
///               where links are, the bound itself counts all traffic of the links)
/// and what is left is read off that run, on the resource that is the bound:
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
/// scenario's own. All are folded, which changes no time.
class StepGap {
public:
    struct Options {
        bool reuse = true;
        std::uint64_t most_played = std::numeric_limits<std::uint64_t>::max();  ///< by each run
        std::uint64_t played = 0;  ///< by the scenario's own run
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

    struct Terms {
        std::vector<LedgerRow> ledger{};  ///< of the shortfalls, in their order
        std::vector<Share> gap{};         ///< their shares, then what is left
    };
    /// Waits for the runs; `run` is that of the scenario's own step. Throws what they throw, and ExceedsLimit with the first causes
    /// whose run was ended.
    [[nodiscard]] Terms terms(const StepRun& run);

private:
    /// Shortfalls that are removed together.
    struct Cause {
        std::string name{};
        std::vector<const Shortfall*> parts{};
        [[nodiscard]] bool lowers_anew() const;
    };
    using Causes = std::size_t;  ///< a set of them, by bit

    [[nodiscard]] bool link_bound() const;
    void find_causes(std::uint64_t played);
    /// One more cause, or a part of the one named `joins`.
    void add_cause(const Shortfall& shortfall, const char* joins);
    [[nodiscard]] IdealHardware without(Causes causes) const;
    /// The steps on the links of each set of causes that change links.
    void lower_bases();
    [[nodiscard]] LoweredStep lowered_without(Causes causes) const;
    void begin();
    /// Only the end is looked at.
    void run_without(Causes causes);
    /// The step on the machine without shortfalls, where collectives have links of their own, too.
    void run_last();
    /// Calls `work` beside the caller; what it throws is kept, and ends all runs.
    template <class Work>
    void beside(Work work);
    [[nodiscard]] std::string names_of(Causes causes) const;
    void read_off(std::vector<Share>& gap) const;

    const Scenario& scenario_;
    const workloads::StepPrograms& programs_;
    const LoweredStep& folded_;
    const workloads::LowerBound& lower_;
    const bool reuse_;
    CollectivesOfThreads* const known_;
    const std::uint64_t most_played_;
    std::vector<Cause> causes_;
    std::map<Causes, LoweredStep>
        bases_;                     ///< by the causes that change links; without any: folded_
    std::vector<sim::Time> times_;  ///< by set of causes
    std::vector<char> exceeded_;    ///< by set of causes: the run played too many events
    LoweredStep last_step_;
    StepRun last_;
    mutable PhaseWatch watch_;
    std::mutex failing_;
    std::exception_ptr failure_;  ///< the first one of a run
    TaskGroup runs_;
};

}  // namespace podsim::scenarios
