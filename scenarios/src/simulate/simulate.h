// Simulation of a scenario: lowering onto links and streams, execution, and an account of every
// picosecond of the result. Results are the same on every run; wall-clock time is measured by the
// caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/request.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/limiting_links.h"
#include "scenarios/src/simulate/link_use.h"
#include "scenarios/src/simulate/shares.h"
#include "scenarios/src/simulate/step_programs.h"
#include "scenarios/src/simulate/step_result.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct StageResult {
    std::string name;
    std::string resource;  ///< resource of its bound: `pcie`, `ici`, `mxu`, `hbm`
    sim::Time began;       ///< start of the first piece, on any chip
    sim::Time ended;       ///< end of the last piece, on all chips
    sim::Seconds bound;    ///< no schedule of this stage alone is faster
    /// Bounds of the gather and of the matmul, for a matmul with a gathered operand.
    std::optional<sim::Seconds> gather_bound{};
    std::optional<sim::Seconds> matmul_bound{};
};

struct ProgramResult {
    sim::Time time;
    std::vector<StageResult> stages;
    /// The stage with the largest bound (compute stages together).
    std::size_t limiting = 0;
    sim::Seconds lower;   ///< that bound
    sim::Seconds serial;  ///< the stages' bounds, one after the other
    /// Breakdown of time - lower (rounded down to ps): `before` and `after` the limiting stage, and
    /// the time beyond its bound from its first piece to its last. For one collective in one piece
    /// instead: `launch`, `latency`, `uneven load`, `idle` (CollectiveResult).
    std::vector<Share> gap;
    /// The reference text's time of that collective, and a breakdown of time - book that adds up
    /// exactly (rounded down to ps). `text's latency` is nonzero if latency alone sets the text's
    /// time; `(n-1)/n` is the data that the text counts although a chip need not receive it; the
    /// other terms are those of the gap.
    std::optional<sim::Seconds> book;
    std::vector<Share> gap_to_book;
    std::vector<LinkUse> links;
    std::uint64_t events = 0;
    int simulated_chips = 0;
};

/// The cause that decides a collective's time: terms that do not shrink with the array, or the
/// links' rates.
enum class Regime { latency_bound, between, bandwidth_bound };

/// Returns `latency-bound`, `in between` or `bandwidth-bound`.
std::string_view to_string(Regime regime);

/// A collective's time by cause. The terms add up to `simulated`.
struct TimeParts {
    sim::Time launch;  ///< launch cost
    /// Time that zero latency would save; negative if zero latency would cost time.
    sim::Time latency;
    sim::Time bandwidth;  ///< time at zero latency and launch cost
};

struct CollectiveResult {
    sim::Time simulated;
    /// The algorithm's exact closed form, if it has one.
    std::optional<sim::Seconds> analytic;
    sim::Seconds book;
    sim::Seconds physical_bound;
    collectives::Algorithm algorithm{};  ///< the algorithm that ran
    int hops = 0;                        ///< links on the longest chain of dependent hops
    /// Describes the routes that carry the bytes, if the algorithm has a choice.
    std::string served;
    std::uint64_t events = 0;
    int simulated_chips = 0;
    std::vector<LinkUse> links;
    std::vector<LimitingLinks> limiting;
    TimeParts parts;
    /// Breakdown of simulated - physical_bound (rounded down to ps); a term may be negative:
    ///   `launch`, `latency`  as in `parts`,
    ///   `uneven load`        at zero latency and ideal rates, the busiest link's busy time -
    ///                        physical_bound,
    ///   `idle`               at zero latency, the end - the busiest link's busy time: the link
    ///                        waits for earlier steps, while a pipeline fills and drains,
    ///   `links below their rate`  only if the profile has such links: busy time of the busiest
    ///                             link beyond that at its ideal rate,
    ///   `HBM`                at zero latency, time that a shared HBM adds; only if it adds time.
    std::vector<Share> gap;

    /// Latency-bound if launch and latency make up half of the time or more; bandwidth-bound if
    /// they make up less than a tenth.
    [[nodiscard]] Regime regime() const;
};

class StepMemory;

/// Events of about four seconds of a run.
inline constexpr std::uint64_t kMostEventsToExplain = 20'000'000;
/// A run that explains a step may play this many times the step's played events ...
inline constexpr std::uint64_t kMostTimesPlayed = 16;
/// ... or this many events, if that is more.
inline constexpr std::uint64_t kPlayedInAnyCase = 4'000'000;
inline constexpr std::uint64_t most_played_to_explain(std::uint64_t played_events) {
    return std::max(kMostTimesPlayed * played_events, kPlayedInAnyCase);
}

/// Options of a step's simulation. None changes a value of the result other than those named here.
struct StepOptions {
    /// Play repeated layers once (sim/executor/executor.h); off: played_events differ.
    bool reuse = true;
    /// Itemise the gap to the roofline and the critical path, by several more runs; off: they are
    /// empty.
    bool explain = true;
    /// A step that plays more events is not explained ...
    std::uint64_t most_events_to_explain = kMostEventsToExplain;
    /// ... nor one of which a run of the explanation plays more than this; by default
    /// most_played_to_explain.
    std::optional<std::uint64_t> most_played_by_a_run{};
    /// Keep the step's programs and every chip's times (StepResult::trail), for timelines.
    bool keep_trail = false;
    /// Hardware for which the order of operations is made (overlap.schedule: latency_hiding), if it
    /// differs from that of the run: gives the cost of a changed machine with the step's order as
    /// it is.
    const IdealHardware* compiled_for = nullptr;
    /// Look-ahead of weights. LookAhead::asked gives the time of a step that does not fit.
    LookAhead look_ahead = LookAhead::that_fits;
    /// Behaviour if the watch ends the step during its explanation. Off: throws Stopped. On:
    /// returns the step unexplained (StepResult::explaining_stopped).
    bool keep_when_stopped = false;
    /// Notified of the simulation's progress; may end it.
    Watch* watch = nullptr;
    /// Cache of what earlier steps found; this step adds to it.
    StepMemory* memory = nullptr;
    /// Throws TakesLonger (simulate/run_step.h) as soon as the step certainly takes longer.
    sim::Time longest = sim::Time::max();
    /// Tightens the bound for `longest`: RunOptions::times_left of the programs that the step runs.
    std::function<std::vector<sim::Time>(const workloads::StepPrograms&)> times_left{};
};

/// Simulates a scenario that is a training step. Throws sim::InputError if the step cannot be
/// carried out, sim::TimeOverflow if it leaves the clock's range, Stopped if the watch ends it.
StepResult simulate_step(const Scenario& scenario, Fold fold, StepOptions options = {});

/// Simulates one collective on an idle machine. The run at zero latency, from which the gap is
/// derived, is always folded, since folding does not change a time. Throws as simulate_step does.
CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold,
                                     Watch* watch = nullptr);

/// Counts the messages into which a collective is cut. Throws collectives::TooManyMessages above 20
/// million.
std::size_t count_messages(const CollectiveRequest& request, Fold fold, Watch* watch = nullptr);

/// The stage of a program whose bound at ideal rates is the longest.
struct LongestStage {
    const Stage* stage = nullptr;  ///< a stage of the program, which must outlive this
    sim::Seconds bound;
};
LongestStage longest_stage(const IdealHardware& hardware, const Program& program);

/// Simulates a program's stages, one after the other. Throws as simulate_step does; errors of a
/// stage name its position.
ProgramResult simulate_program(const IdealHardware& hardware, const Program& program, Fold fold,
                               Watch* watch = nullptr);

}  // namespace podsim::scenarios
