// What to change about a step, each change simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/load/scenario_source.h"
#include "scenarios/ranks/parallel.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/suggest/plan_changes.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

struct Suggestion {
    PlanChange change;
    sim::Time step_time;  ///< of the scenario with it
    MemoryUse memory;
};

struct Suggestions {
    std::vector<Suggestion> best{};  ///< by step time
    int left_out =
        0;  ///< changes whose runs have too many events, or that came when all had been played that may be
    bool tried = true;
};

/// Steps of more played events than these are not simulated again for suggestions.
inline constexpr std::uint64_t kMostEventsOfSuggestions = 1'000'000;
/// A change whose run has so many times the step's events is not tried: where groups do not fill an axis, fewer chips are alike.
inline constexpr std::uint64_t kMostTimesTheEvents = 4;
/// But for so few, a fiftieth of a second.
inline constexpr std::uint64_t kFewEvents = 100'000;
/// Nothing more is tried once all runs together have played so many times what one may (most_played_to_explain).
inline constexpr std::uint64_t kMostTimesPlayedInAll = 4;
/// What gains less than this share of the step is not said: it is less than kernels differ between compilers.
inline constexpr double kLeastGain = 0.01;

/// Of the step that `source` describes with `settings` (--set), whose run is `result`: of each kind of change the one with the least
/// step time, and what the best of the kinds gain together where that is more than each alone; by step time. All of them fit memory, and are tight
/// only where they take no more of it than the step. Once they have played more than `most_played` events together (without it kMostTimesPlayedInAll
/// of what one may) no more are tried, in the order of plan_changes and mesh_moves.
/// Of a step that fits they gain at least kLeastGain; of one that does not, any that fits counts. Runs are folded, on `jobs` threads.
/// Throws Stopped, and what the watch throws.
Suggestions suggestions(const ScenarioSource& source, std::span<const std::string> settings,
                        const Scenario& scenario, const StepResult& result, bool reuse,
                        int jobs = available_jobs(), Watch* watch = nullptr,
                        std::optional<std::uint64_t> most_played = {});

/// What would make a step fit that does not (advice/memory_remedies.h), each with the peak of the step with it: what fits in program order alone is
/// left out. More chips and other meshes, and what takes too many events, stay as they are in program order. Nothing of a step that fits,
/// and of one that plays more events than kMostEventsOfSuggestions.
std::optional<Remedies> tried_remedies(const ScenarioSource& source,
                                       std::span<const std::string> settings,
                                       const Scenario& scenario, const StepResult& result,
                                       bool reuse, Watch* watch = nullptr,
                                       int jobs = available_jobs());

/// Settings as a shell takes them: `--set training.remat=none --set 'mesh={fsdp: x}'`.
std::string options_text(std::span<const std::string> settings);

/// A section of the report.
std::string suggestions_text(const Suggestions& suggestions, const StepResult& result);
/// The value of `advice`, of suggestions that were tried.
Json suggestions_json(const Suggestions& suggestions, const StepResult& result);

}  // namespace podsim::scenarios
