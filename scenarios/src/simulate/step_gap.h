// Breakdown of the gap between a step and its bound, by runs without each set of the machine's
// shortfalls.
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

#include "scenarios/src/base/threads.h"
#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/machine_changes.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/shares.h"
#include "scenarios/src/simulate/step_result.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/bounds/roofline.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Sums over a program's operations: the time at peak rate without padding, and the terms beyond
/// it. Each operation's terms are rounded up to picoseconds.
struct WorkAccount {
    sim::Time ideal;             ///< flops / peak
    sim::Time padding;           ///< matrix dimensions rounded up to the systolic array
    sim::Time hbm;               ///< HBM time beyond the padded MXU time
    sim::Time vpu;               ///< VPU time beyond both
    sim::Time hbm_all;           ///< bytes / bandwidth of every operation
    sim::Time mxu_beyond_hbm;    ///< padded MXU time beyond hbm_all
    sim::Time vpu_all;           ///< elementwise operations / rate of every operation
    sim::Time mxu_beyond_vpu;    ///< padded MXU time beyond vpu_all
    sim::Time hbm_beyond_vpu;    ///< HBM time beyond both of these
    sim::Seconds unrounded;      ///< the sum of flops / peak
    sim::Seconds hbm_unrounded;  ///< the sum of bytes / bandwidth
    sim::Seconds vpu_unrounded;  ///< the sum of elementwise operations / rate
};
WorkAccount account_work(const workloads::StepProgram& program,
                         const workloads::MachineRates& rates);

/// Sets the durations of a lowered step's tasks to those on hardware with the same links. Returns
/// true if one of them has changed. The result equals lower_step on that hardware: neither compute
/// times nor the launch cost decide how collectives are carried out.
bool retime(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
            LoweredStep& step);

/// All runs of a ledger together play at most about this many events: about eight seconds of one
/// core.
inline constexpr std::uint64_t kMostPlayedByLedger = 40'000'000;

/// The run without `cause` exceeds its limit of played events.
class ExceedsLimit : public std::runtime_error {
public:
    explicit ExceedsLimit(const std::string& cause) : std::runtime_error(cause) {}
};

/// Breakdown of step_time - roofline_lower into named terms that add up exactly.
///
/// The shortfalls of the machine (simulate/machine_changes.h) can be removed:
///   perturbations, stragglers, kernels below peak, links below their rate, launch, host between
///   steps, latency, HBM shared with collectives
/// The step runs without each set of those that are present. The share of each is its Shapley value
/// over these runs (step_result.h), so that it does not depend on an order of removal. A share can
/// be negative: a delay can help. More than six shortfalls are merged by Shortfall::joins. If all
/// the runs would play more than kMostPlayedByLedger events, all but kernels and links become one
/// cause. One more run, on the machine without any shortfall, gives
///   contention  collectives of the step sharing links (only if compute or HBM is the bound: if
///               links are, the bound itself counts all traffic of the links)
/// and the other terms, on the resource that is the bound:
///   compute  padding, HBM time beyond the MXU's, VPU time beyond both, and the waits of the
///            compute stream, by collective and mesh axis (`exposed ...`); with several programs
///            `uneven stages` (`uneven work` if members of a stage differ): the reported chip's
///            compute minus that of the chip with the most (negative)
///   HBM      MXU time beyond the HBM's, VPU time beyond both, and the same waits; if the bound
///            counts the bytes that messages read and write, minus that time (`HBM of messages`,
///            never above zero), since it overlaps these
///   VPU      MXU time beyond the VPU's, HBM time beyond both, and the same waits
///   links    `uneven links`: the busiest link of the bound's class (ICI axes, DCN, PCIe) carries
///            more than the bound counts; `idle links: ...`: it is idle while the compute stream of
///            its program's chip is at that pass, or waits (`exposed ...`) for data on other links
///            or in flight
/// `rounding` is each operation's rounding up to a picosecond.
///
/// Each run depends only on its own lowered step, so the runs proceed in parallel with each other
/// and with the scenario's own. All are folded, which changes no time.
class StepGap {
public:
    struct Options {
        bool reuse = true;
        /// Limit of the events that each run may play.
        std::uint64_t most_played = std::numeric_limits<std::uint64_t>::max();
        std::uint64_t played = 0;  ///< events played by the scenario's own run
        Watch* watch = nullptr;
        /// Cache of what earlier steps found about their collectives.
        CollectivesOfThreads* known = nullptr;
    };

    /// Begins the runs. `folded` is the scenario's own step. Keeps references to the arguments.
    StepGap(const Scenario& scenario, const workloads::StepPrograms& programs,
            const LoweredStep& folded, const workloads::LowerBound& lower, Options options);
    ~StepGap();
    StepGap(const StepGap&) = delete;
    StepGap& operator=(const StepGap&) = delete;

    struct Terms {
        std::vector<LedgerRow> ledger{};  ///< of the shortfalls, in their order
        std::vector<Share> gap{};         ///< shares of the shortfalls, then the other terms
    };
    /// Waits for the runs and returns the terms; `run` is that of the scenario's own step. Throws
    /// the runs' exceptions, and ExceedsLimit with the first causes whose run was ended.
    [[nodiscard]] Terms terms(const StepRun& run);

private:
    /// Shortfalls that are removed together.
    struct Cause {
        std::string name{};
        std::vector<const Shortfall*> parts{};
        [[nodiscard]] bool lowers_anew() const;
    };
    using Causes = std::size_t;  ///< a set of causes, by bit

    [[nodiscard]] bool link_bound() const;
    void find_causes(std::uint64_t played);
    /// Adds a cause, or adds the shortfall to the cause named `joins`.
    void add_cause(const Shortfall& shortfall, const char* joins);
    [[nodiscard]] IdealHardware without(Causes causes) const;
    /// Lowers the step on the links of each set of causes that change links.
    void lower_bases();
    [[nodiscard]] LoweredStep lowered_without(Causes causes) const;
    void begin();
    /// Runs the step without these causes; keeps only the end.
    void run_without(Causes causes);
    /// Runs the step on the machine without shortfalls, on which collectives also have links of
    /// their own.
    void run_last();
    /// Calls `work` in parallel with the caller. Its exception is kept, and ends all runs.
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
    /// By the causes that change links; without any: folded_.
    std::map<Causes, LoweredStep> bases_;
    std::vector<sim::Time> times_;  ///< by set of causes
    std::vector<char> exceeded_;    ///< by set of causes: the run played too many events
    LoweredStep last_step_;
    StepRun last_;
    mutable PhaseWatch watch_;
    std::mutex failing_;
    std::exception_ptr failure_;  ///< first exception of a run
    TaskGroup runs_;
};

}  // namespace podsim::scenarios
