// What a simulated training step took, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/explain/imbalance.h"
#include "scenarios/explain/ledger.h"
#include "scenarios/explain/link_use.h"
#include "scenarios/explain/memory.h"
#include "scenarios/explain/shares.h"
#include "scenarios/run/run_step.h"
#include "scenarios/run/step_trail.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/analytic/book_step.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/ranks.h"
#include "workloads/program/step_program.h"
#include "workloads/roofline/roofline.h"

namespace podsim::scenarios {

/// One operation of the reported chip, for traces.
struct Span {
    std::string name;
    std::string
        track;  ///< `compute`, `offload`, or `tensor`, `context`, `weights`, `gradients`, ...
    sim::Time start;
    sim::Time end;
};

/// The chip that a step is reported by: the program that it runs, and when it did what.
struct ReportedChip {
    std::shared_ptr<const workloads::StepPrograms> programs{};  ///< nullptr: none is known
    std::size_t program = 0;
    ChipRun run{};
};

/// Of all operations of that chip, in program order.
std::vector<Span> spans_of(const ReportedChip& chip);

/// The step if one thing cost nothing (what_if.h).
struct Ceiling {
    std::string name;  ///< `ici=inf`
    std::string meaning;
    sim::Time step_time;
};

/// A change with which a step fits that does not (advice/memory_remedies.h).
struct Remedy {
    std::string text;  ///< `training.remat: full`
    std::vector<std::string>
        set;                ///< the same as --set takes it; empty of other meshes and more chips
    sim::Bytes peak;        ///< with it
    sim::Time step_time{};  ///< with it, where it was simulated
    bool simulated =
        false;  ///< the peak is that of the step with it; else that of its operations in program order
};

struct Remedies {
    std::vector<Remedy>
        each{};  ///< those without more chips first, in the order of what they cost in time
    sim::Bytes least_peak =
        sim::Bytes::infinity();  ///< of all that was tried but the batch of inference
};

struct StepResult {
    sim::Time step_time;
    sim::Time evaluation;  ///< of one evaluation step, where the scenario has them
    sim::Time block;       ///< of the training and evaluation steps of a block, one after the other
    sim::Time prefill;     ///< of a step that generates tokens: until each sequence has its first
    sim::Time compute;     ///< sum of the compute stream's work on the reported chip
    sim::Time
        fullest_compute;  ///< the same of the chip that computes longest, where stages or members do unequal work
    std::vector<Share>
        exposed;  ///< compute stream idle, by collective and mesh axis: `AllGather over fsdp+context (weights)`
    sim::Time exposed_total;  ///< compute + exposed_total == step_time
    double mfu = 0;
    double hfu = 0;
    double tokens_per_s = 0;
    workloads::LowerBound lower;
    sim::Seconds serial;
    sim::Seconds book;
    workloads::WeightLoading book_loading{};  ///< nothing where the HBM is private
    std::vector<LedgerRow> ledger;  ///< what the machine's shortfalls cost (explain/step_gap.h)
    /// Those shares and what is left; adds up to step_time - roofline_lower (rounded down to ps).
    std::vector<Share> gap;
    std::vector<Share> critical_path;  ///< by resource (critical_path.h): adds up to step_time
    std::optional<Imbalance> imbalance;
    std::vector<Ceiling> ceilings;  ///< only where they were asked for
    MemoryUse memory;
    std::optional<Remedies> remedies{};  ///< where it does not fit and they were simulated
    std::vector<LinkUse> links;
    std::vector<Share>
        breakdown;      ///< compute by pass (`forward`, `recompute`, ...), adds up to `compute`
    double bubble = 0;  ///< share of the step that the reported chip waits for other stages
    workloads::PassTimes passes;  ///< of one microbatch through the reported stage's layers
    workloads::Ranks
        reported{};  ///< of the chip that ends last, which all values of one chip are of
    std::string reported_member{};  ///< the same where members do unequal work: `context rank 3`
    double prefetch_layers = 0;     ///< in force after the memory bound
    double asked_prefetch = 0;      ///< before it
    double fetch_layers = 0;  ///< that offloaded tensors come back ahead; 0 where there are none
    double asked_fetch = 0;   ///< before the memory bound
    /// Memory lowered one of them.
    [[nodiscard]] bool looks_less_ahead() const {
        return prefetch_layers < asked_prefetch || fetch_layers < asked_fetch;
    }
    /// What the step would take with those asked for, if memory held it: where the bound lowered it, and the step is explained.
    std::optional<sim::Time> with_asked_prefetch{};
    std::uint64_t events = 0;
    bool explained = false;           ///< gap and critical path are there
    bool explaining_stopped = false;  ///< they are not, since the watch ended that
    /// They are not, since the step without this cause of the gap plays too many events (most_played_to_explain).
    std::string explaining_exceeded{};
    /// They are not, since what they keep of the run takes up to so many bytes, and podsim may not; else 0.
    double explaining_bytes = 0;
    std::uint64_t played_events =
        0;  ///< those that were played, neither skipped as repeats nor copies
    int simulated_chips = 0;
    int chips = 0;
    ReportedChip reported_chip{};
    std::shared_ptr<const StepTrail> trail{};  ///< where it was asked for (StepOptions)
};

}  // namespace podsim::scenarios
