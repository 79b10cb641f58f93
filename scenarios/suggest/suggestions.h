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
    std::vector<Suggestion> faster{};   ///< by step time
    std::vector<Suggestion> fitting{};  ///< of a step that may not fit: it then does; by step time
    /// Changes whose runs have too many events, or that came when all had been played that may be.
    std::vector<PlanChange> not_tried{};
    /// The share of the step that hangs on its order (study/order_noise.h): savings below it are marked.
    double noise = 0;
    bool each_alone = false;  ///< several are faster, no two of them together faster than the first
    bool tried = true;
};

/// Which runs are not made.
struct TrialLimits {
    /// Every change is tried, however long its run (--explain-all).
    bool none = false;
    /// By all runs together; nothing: kMostTimesPlayedInAll of what one may.
    std::optional<std::uint64_t> most_played{};
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

/// Of the step that `source` describes with `settings` (--set), whose run is `result`, two lists of changes, of each kind the one with the least
/// step time:
///   faster   they gain at least kLeastGain of the step, fit memory, and are tight only where they take no more of it than the step; with what
///            the best of the kinds gain together where that is more than each alone
///   fitting  only of a step that does not fit, or is tight with more than the capacity: it fits with each. They may take longer.
/// Once they have played more than TrialLimits says no more are tried, in the order of plan_changes and mesh_moves. Runs are folded, on `jobs` threads.
/// Throws Stopped, and what the watch throws.
Suggestions suggestions(const ScenarioSource& source, std::span<const std::string> settings,
                        const Scenario& scenario, const StepResult& result, bool reuse,
                        int jobs = available_jobs(), Watch* watch = nullptr,
                        const TrialLimits& limits = {});

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

/// A section of the report; `all`: every change that was not tried by name.
std::string suggestions_text(const Suggestions& suggestions, const StepResult& result,
                             bool all = false);
/// Of suggestions that were tried: `advice`, `advice_to_fit` of a step that may not fit, and `advice_not_tried`.
void add_suggestions(Json& json, const Suggestions& suggestions, const StepResult& result);

}  // namespace podsim::scenarios
