// Result of a simulated training step: its times, and their causes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/link_use.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/memory.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/shares.h"
#include "scenarios/src/simulate/step_trail.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/bounds/book_step.h"
#include "workloads/bounds/roofline.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/ranks.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

inline constexpr std::size_t kMostCauses = 6;
/// Share and lone saving agree if they differ by at most this fraction of the share.
inline constexpr double kLoneAgreement = 0.05;

// Shapley shares of several causes in one effect, independent of the order in which causes are
// removed.
//
// A step takes v(S) once the causes in S are removed. The share of cause i is its Shapley value:
// the time that its removal saves, averaged over all orders of removal of the n causes,
//   share_i = sum over S without i of |S|! (n - |S| - 1)! / n! (v(S) - v(S + i))
// The shares add up to v(nothing) - v(all), also when rounded to picoseconds: the shares with the
// largest remainders are rounded up.
// Source: L. S. Shapley, A value for n-person games, 1953.

/// A cause that can be removed.
struct LedgerRow {
    std::string name{};
    sim::Time share{};  ///< may be negative: a delay can help
    sim::Time alone{};  ///< saved if this cause alone is removed
    /// The cause whose removal changes this one's saving most; empty if there is none.
    std::string together{};

    [[nodiscard]] bool agrees() const;
    /// True if both are savings, or neither is.
    [[nodiscard]] bool same_sign() const { return (share.ps > 0) == (alone.ps > 0); }
};

/// Returns the ledger of `names`, at most kMostCauses. `times` has 2^n entries: `times[S]` is v(S),
/// with bit i of S set if cause i is removed.
std::vector<LedgerRow> ledger_of(std::span<const std::string> names,
                                 std::span<const sim::Time> times);

struct TrainingStep;

/// The maximum over the mean of the members' work, for an axis whose members do unequal work.
struct Imbalance {
    double attention = 1;  ///< FLOPs of attention's dot products
    double experts = 1;    ///< tokens of experts
    double compute = 1;    ///< time of the compute stream's work
    /// Time of the step if all members did the mean work. Set only if the step is explained and a
    /// plan can express it; none does for windows in a ring on zig-zag segments.
    std::optional<sim::Time> even_step{};
};

/// Returns the imbalance without `even_step`; nothing if all members of every axis do the same
/// work.
std::optional<Imbalance> imbalance_of(const TrainingStep& described,
                                      const workloads::StepPrograms& programs,
                                      const LoweredStep& step);

/// The scenario in which all members do the mean work: zig-zag placement and equal experts. Nothing
/// if no plan expresses that.
std::optional<Scenario> with_even_work(const Scenario& scenario);

/// The ranks of a program along the axes whose members do unequal work, as in `context rank 3`;
/// empty if there is no such axis.
std::string member_text(const workloads::StepPrograms& programs, const topology::DeviceMesh& mesh,
                        std::size_t program);

/// One operation of the reported chip, for traces.
struct Span {
    std::string name;
    /// Track of the trace: `compute`, `offload`, or `tensor`, `context`, `weights`, `gradients`,
    /// ...
    std::string track;
    sim::Time start;
    sim::Time end;
};

/// The chip by which a step is reported: its program, and the times of its operations.
struct ReportedChip {
    std::shared_ptr<const workloads::StepPrograms> programs{};  ///< nullptr: no chip is known
    std::size_t program = 0;
    ChipRun run{};
};

/// Returns the spans of all operations of that chip, in program order.
std::vector<Span> spans_of(const ReportedChip& chip);

/// The step if one thing cost nothing (what_if.h).
struct Ceiling {
    std::string name;  ///< `ici=inf`
    std::string meaning;
    sim::Time step_time;
};

/// A change with which a step fits that otherwise does not (advise/memory_remedies.h).
struct Remedy {
    std::string text;  ///< `training.remat: full`
    /// The change in the form of --set; empty for other meshes and more chips.
    std::vector<std::string> set;
    sim::Bytes peak;        ///< peak with the change
    sim::Time step_time{};  ///< step time with the change, if it was simulated
    /// True if the peak is that of the simulated step; otherwise it is the peak in program order.
    bool simulated = false;
};

struct Remedies {
    /// Remedies without more chips come first, in the order of their cost in time.
    std::vector<Remedy> each{};
    /// Least peak of all that was tried, except for the batch of inference.
    sim::Bytes least_peak = sim::Bytes::infinity();
};

struct StepResult {
    sim::Time step_time;
    sim::Time evaluation;  ///< of one evaluation step, if the scenario has them
    /// Training and evaluation steps of a block, one after the other.
    sim::Time block;
    /// For a step that generates tokens: the time until each sequence has its first.
    sim::Time prefill;
    sim::Time compute;  ///< sum of the compute stream's work on the reported chip
    /// The same for the chip that computes longest, if stages or members do unequal work.
    sim::Time fullest_compute;
    /// Idle time of the compute stream, by collective and mesh axis: `AllGather over fsdp+context
    /// (weights)`.
    std::vector<Share> exposed;
    sim::Time exposed_total;  ///< compute + exposed_total == step_time
    double mfu = 0;
    double hfu = 0;
    double tokens_per_s = 0;
    workloads::LowerBound lower;
    sim::Seconds serial;
    sim::Seconds book;
    workloads::WeightLoading book_loading{};  ///< empty if the HBM is private
    std::vector<LedgerRow> ledger;  ///< cost of the machine's shortfalls (simulate/step_gap.h)
    /// The ledger's shares and the other terms; adds up to step_time - roofline_lower (rounded down
    /// to ps).
    std::vector<Share> gap;
    std::vector<Share> critical_path;  ///< by resource (critical_path.h): adds up to step_time
    std::optional<Imbalance> imbalance;
    std::vector<Ceiling> ceilings;  ///< only if requested
    MemoryUse memory;
    std::optional<Remedies> remedies{};  ///< if the step does not fit and they were simulated
    std::vector<LinkUse> links;
    /// Compute by pass (`forward`, `recompute`, ...), adds up to `compute`.
    std::vector<Share> breakdown;
    /// Fraction of the step in which the reported chip waits for other stages.
    double bubble = 0;
    workloads::PassTimes passes;  ///< of one microbatch through the reported stage's layers
    /// Ranks of the chip that ends last; all values of one chip are its values.
    workloads::Ranks reported{};
    /// The reported member, if members do unequal work: `context rank 3`.
    std::string reported_member{};
    double prefetch_layers = 0;  ///< in force after the memory bound
    double asked_prefetch = 0;   ///< before the memory bound
    /// Layers by which offloaded tensors return ahead, after the memory bound; 0 if there are none.
    double fetch_layers = 0;
    double asked_fetch = 0;  ///< before the memory bound
    /// True if memory lowered one of them.
    [[nodiscard]] bool looks_less_ahead() const {
        return prefetch_layers < asked_prefetch || fetch_layers < asked_fetch;
    }
    /// Step time with the requested look-aheads, if memory held it. Set if the memory bound lowered
    /// one and the step is explained.
    std::optional<sim::Time> with_asked_prefetch{};
    std::uint64_t events = 0;
    bool explained = false;           ///< gap and critical path are set
    bool explaining_stopped = false;  ///< they are not, since the watch ended their computation
    /// They are not, since the step without this cause of the gap plays too many events
    /// (most_played_to_explain).
    std::string explaining_exceeded{};
    /// They are not, since the record of the run takes up to this many bytes, more than podsim may
    /// use; else 0.
    double explaining_bytes = 0;
    /// Events that were played: neither skipped as repeats nor copies.
    std::uint64_t played_events = 0;
    int simulated_chips = 0;
    int chips = 0;
    ReportedChip reported_chip{};
    std::shared_ptr<const StepTrail> trail{};  ///< if requested (StepOptions)
};

}  // namespace podsim::scenarios
