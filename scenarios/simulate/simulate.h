// Running a scenario: lowering it onto links and streams, executing it, and accounting for every picosecond of the
// result. Results are values that are the same on every run: what a simulation takes on the wall is measured by
// whoever calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "scenarios/simulate/collective_result.h"
#include "scenarios/simulate/program_result.h"
#include "scenarios/simulate/step_programs.h"
#include "scenarios/simulate/step_result.h"
#include "scenarios/spec/request.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

class StepMemory;

/// Some four seconds of a run.
inline constexpr std::uint64_t kMostEventsToExplain = 20'000'000;
/// Each of the runs that explain a step may play so many times the events that the step played ...
inline constexpr std::uint64_t kMostTimesPlayed = 16;
/// ... or so many where that is more.
inline constexpr std::uint64_t kPlayedInAnyCase = 4'000'000;
inline constexpr std::uint64_t most_played_to_explain(std::uint64_t played_events) {
    return std::max(kMostTimesPlayed * played_events, kPlayedInAnyCase);
}

/// What a simulation of a step does beside the times: neither changes another value of the result
/// than is said here.
struct StepOptions {
    bool reuse =
        true;  ///< play repeated layers once (sim/executor/executor.h); off: played_events differ
    /// Itemise the gap to the roofline and the critical path, by several more runs; off: they are
    /// empty.
    bool explain = true;
    /// A step that plays more events is not explained ...
    std::uint64_t most_events_to_explain = kMostEventsToExplain;
    /// ... nor one some run of whose explanation plays more than this; nothing: most_played_to_explain.
    std::optional<std::uint64_t> most_played_by_a_run{};
    /// Keep what the step was made of and what every chip did (StepResult::trail), for timelines.
    bool keep_trail = false;
    /// Hardware for which the order of operations is made (overlap.schedule: latency_hiding), where that is another
    /// than the step then runs on: what a changed machine costs with the order of the step as it is.
    const IdealHardware* compiled_for = nullptr;
    /// Of weights; what a step that does not fit would take is known by LookAhead::asked.
    LookAhead look_ahead = LookAhead::that_fits;
    /// Where the watch ends it while it explains: off, that is thrown; on, the step is the result, not explained
    /// (StepResult::explaining_stopped).
    bool keep_when_stopped = false;
    Watch* watch = nullptr;  ///< hears how far the simulation is, and may end it
    StepMemory* memory =
        nullptr;  ///< what steps before have found; it will hold what this one finds
    /// Throws TakesLonger (run/run_step.h) as soon as it is sure that the step takes longer.
    sim::Time longest = sim::Time::max();
    /// Makes it sure sooner: RunOptions::times_left of the programs that the step runs.
    std::function<std::vector<sim::Time>(const workloads::StepPrograms&)> times_left{};
};

/// Of a scenario that is a training step. Throws sim::InputError where the step cannot be carried out,
/// sim::TimeOverflow where it leaves the clock's range, Stopped where the watch ends it.
StepResult simulate_step(const Scenario& scenario, Fold fold, StepOptions options = {});

/// One collective on an idle machine. Folding does not change a time, so the run at zero latency, from which the gap
/// is read, is always folded. Throws as simulate_step does.
CollectiveResult simulate_collective(const CollectiveRequest& request, Fold fold,
                                     Watch* watch = nullptr);

/// Messages that a collective is cut into. Throws collectives::TooManyMessages where they are more than 20 million.
std::size_t count_messages(const CollectiveRequest& request, Fold fold, Watch* watch = nullptr);

/// The stage of a program whose bound at ideal rates is the longest.
struct LongestStage {
    const Stage* stage = nullptr;  ///< of the program, which must live as long
    sim::Seconds bound;
};
LongestStage longest_stage(const IdealHardware& hardware, const Program& program);

/// A program's stages, one after the other. Throws as simulate_step does; what a stage cannot be, at its place.
ProgramResult simulate_program(const IdealHardware& hardware, const Program& program, Fold fold,
                               Watch* watch = nullptr);

}  // namespace podsim::scenarios
