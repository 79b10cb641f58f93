// Running a scenario: lowering the step onto links and streams, executing it, and accounting for
// every picosecond of the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/time.h"
#include "workloads/analytic/analytic.h"
#include "workloads/plan/pipeline_order.h"

namespace podsim::scenarios {

class RunWatch;

enum class Fold { automatic, off };

/// A named share of a time, in whole picoseconds so that shares add up exactly.
struct Share {
    std::string name;
    sim::Time time;
};

struct LinkUse {
    std::string name;             ///< `ici_x`, `ici_y`, `ici_z`, `pcie`, `dcn`
    double busy_fraction = 0;     ///< of the run, mean over the links of the class
    sim::Bytes bytes;             ///< per link, mean over the links of the class
    double busiest_fraction = 0;  ///< of the link that is busy longest
    sim::Bytes busiest_bytes{};   ///< of the link that carries most
};

struct MemoryUse {
    sim::Bytes peak;
    sim::Time peak_at;
    sim::Bytes capacity;
    bool fits = false;
    std::vector<std::pair<std::string, sim::Bytes>> at_peak;  ///< by memory class
    int stage = 0;         ///< of the pipeline, the one that needs most
    std::string member{};  ///< of it, where members do unequal work: `context rank 3`
};

/// One operation of the reported chip, for traces.
struct Span {
    std::string name;
    std::string
        track;  ///< `compute`, `offload`, or `tensor`, `context`, `weights`, `gradients`, ...
    sim::Time start;
    sim::Time end;
};

/// The step if one thing cost nothing (what_if.h).
struct Ceiling {
    std::string name;  ///< `ici=inf`
    std::string meaning;
    sim::Time step_time;
};

/// Of an axis whose members do unequal work: the most over the mean of its members.
struct Imbalance {
    double attention = 1;  ///< FLOPs of attention's dot products
    double experts = 1;    ///< tokens of experts
    double compute = 1;    ///< time of the compute stream's work
    /// The step if all did the mean; only where it is explained, and where a plan says how: not of windows in a ring on
    /// zig-zag parts.
    std::optional<sim::Time> even_step{};
};

struct StepResult {
    sim::Time step_time;
    sim::Time evaluation;  ///< of one evaluation step, where the scenario has them
    sim::Time block;       ///< of the training and evaluation steps of a block, one after the other
    sim::Time compute;     ///< sum of the compute stream's work on the reported chip
    std::vector<Share>
        exposed;  ///< compute stream idle, by collective and mesh axis: `AllGather over fsdp+context (weights)`
    sim::Time exposed_total;  ///< compute + exposed_total == step_time
    double mfu = 0;
    double hfu = 0;
    double tokens_per_s = 0;
    workloads::LowerBound lower;
    sim::Seconds serial;
    sim::Seconds book;
    std::vector<Share> gap;  ///< adds up to step_time - roofline_lower (rounded down to ps)
    std::vector<Share> critical_path;  ///< by resource (critical_path.h): adds up to step_time
    std::optional<Imbalance> imbalance;
    std::vector<Ceiling> ceilings;  ///< only where they were asked for
    MemoryUse memory;
    std::vector<LinkUse> links;
    std::vector<Share>
        breakdown;      ///< compute by pass (`forward`, `recompute`, ...), adds up to `compute`
    double bubble = 0;  ///< share of the step that the reported chip waits for other stages
    workloads::PassTimes passes;    ///< of one microbatch through the reported stage's layers
    int reported_stage = 0;         ///< the one that ends last, which all values of one chip are of
    std::string reported_member{};  ///< of it, where members do unequal work: `context rank 3`
    double prefetch_layers = 0;     ///< in force after the memory bound
    std::uint64_t events = 0;
    std::uint64_t played_events = 0;  ///< those that were played, not skipped as repeats
    int simulated_chips = 0;
    int chips = 0;
    double wall_time_s = 0;     ///< to build and simulate the step, as `events` counts
    double explain_time_s = 0;  ///< beyond, for the critical path and the runs behind the gap
    std::vector<Span> spans;    ///< of the reported chip
};

/// What a simulation of a step does beside the times: neither changes another value of the result
/// than is said here.
struct StepOptions {
    bool reuse = true;  ///< play repeated layers once (sim/executor/executor.h); off: played_events differ
    /// Itemise the gap to the roofline and the critical path, by several more runs; off: they are
    /// empty.
    bool explain = true;
    RunWatch* watch = nullptr;  ///< is shown how far the run is, and may end it
};

StepResult simulate_step(const Scenario& scenario, Fold fold, StepOptions options = {});

struct CollectiveRequest {
    Hardware hardware;
    collectives::Operation operation{};
    collectives::Members members;
    sim::Bytes bytes;
    collectives::Algorithm algorithm{};
    collectives::Ends ends{};  ///< of a permute, send, broadcast, gather or scatter
};

/// The links of one class that a collective waits for: those as busy as the busiest of all.
struct LimitingLinks {
    std::string name;          ///< `ici_x`, as in LinkUse
    std::string place;         ///< of one of them: `+x, from x=2 to x=3`; empty: all alike
    int links = 0;             ///< how many there are in the slice
    int of = 0;                ///< links of the class
    double busy_fraction = 0;  ///< of the busiest
};

/// What decides the time of a collective: terms that do not shrink with the array, or the links' rates.
enum class Regime { latency_bound, between, bandwidth_bound };

/// `latency-bound`, `in between`, `bandwidth-bound`.
std::string_view to_string(Regime regime);

/// The time of a collective by what it would be without: parts that add up to `simulated`.
struct TimeParts {
    sim::Time launch;     ///< the launch cost
    sim::Time latency;    ///< what zero latency would save; negative where it would cost
    sim::Time bandwidth;  ///< the time at zero latency and launch cost
};

struct CollectiveResult {
    sim::Time simulated;
    std::optional<sim::Seconds> analytic;  ///< the algorithm's exact closed form, where it has one
    sim::Seconds book;
    sim::Seconds physical_bound;
    collectives::Algorithm algorithm{};  ///< the one that ran
    int hops = 0;                        ///< links on the longest chain of dependent hops
    std::string served;  ///< what carries the bytes, where the algorithm has a choice
    std::uint64_t events = 0;
    int simulated_chips = 0;
    double wall_time_s = 0;  ///< with the second run, at zero latency
    std::vector<LinkUse> links;
    std::vector<LimitingLinks> limiting;
    TimeParts parts;
    /// Adds up to simulated - physical_bound (rounded down to ps):
    ///   `launch`, `latency`  as in `parts`,
    ///   `uneven load`        at zero latency, the busiest link's busy time - physical_bound,
    ///   `idle`               at zero latency, the end - the busiest link's busy time: it waits for
    ///                        earlier steps, while a pipeline fills and drains.
    /// Always all four; a term may be negative.
    std::vector<Share> gap;

    /// Latency-bound where launch and latency make up half of the time or more, bandwidth-bound
    /// below a tenth.
    [[nodiscard]] Regime regime() const;
};

/// Folding does not change a time, so the run at zero latency is always folded.
CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold,
                                     RunWatch* watch = nullptr);

}  // namespace podsim::scenarios
