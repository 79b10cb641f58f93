// Suggested changes of a step, each of them simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/src/advise/plan_changes.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/base/parallel.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

struct Suggestion {
    PlanChange change;
    sim::Time step_time;  ///< step time of the scenario with the change
    MemoryUse memory;
};

struct Suggestions {
    std::vector<Suggestion> faster{};  ///< by step time
    /// Changes with which a step fits that otherwise may not; by step time.
    std::vector<Suggestion> fitting{};
    /// Changes whose runs have too many events, or that were left after all permitted events had
    /// been played.
    std::vector<PlanChange> not_tried{};
    /// The fraction of the step's time that the order of its messages decides (order_noise.h).
    /// Smaller savings are marked.
    double noise = 0;
    /// True if several are faster, but no two of them together are faster than the first.
    bool each_alone = false;
    bool tried = true;
};

/// Limits of the runs that are made.
struct TrialLimits {
    /// Every change is tried, however long its run (--explain-all).
    bool none = false;
    /// Events that all runs together may play; by default kMostTimesPlayedInAll times those of one
    /// run.
    std::optional<std::uint64_t> most_played{};
};

/// Steps of more played events than this are not simulated again for suggestions.
inline constexpr std::uint64_t kMostEventsOfSuggestions = 1'000'000;
/// A change whose run has more than this many times the step's events is not tried: if groups do
/// not fill an axis, fewer chips are alike.
inline constexpr std::uint64_t kMostTimesTheEvents = 4;
/// Runs of up to this many events, a fiftieth of a second, are always tried.
inline constexpr std::uint64_t kFewEvents = 100'000;
/// No more changes are tried once all runs together have played this many times the events of one
/// run (most_played_to_explain).
inline constexpr std::uint64_t kMostTimesPlayedInAll = 4;
/// Smaller gains, as a fraction of the step, are not reported: kernels differ by more between
/// compilers.
inline constexpr double kLeastGain = 0.01;

/// Returns suggestions for the step that `source` describes with `settings` (--set), and whose run
/// is `result`: two lists of changes, with the fastest change of each kind.
///   faster   The change gains at least kLeastGain of the step and fits memory; it is tight only if
///            it takes no more of it than the step. The best of the kinds together are added if
///            they gain more than each alone.
///   fitting  Only for a step that does not fit, or is tight above the capacity: it fits with each
///            change. These may take longer.
/// Changes are tried in the order of plan_changes and mesh_moves, until they have played more than
/// TrialLimits permits. Runs are folded, on `jobs` threads. Throws Stopped, and the exceptions of
/// the watch.
Suggestions suggestions(const ScenarioSource& source, std::span<const std::string> settings,
                        const Scenario& scenario, const StepResult& result, bool reuse,
                        int jobs = available_jobs(), Watch* watch = nullptr,
                        const TrialLimits& limits = {});

/// Returns changes with which a step fits that otherwise does not (advise/memory_remedies.h), each
/// with the peak of the changed step. Changes that fit only in program order are left out. Other
/// meshes, more chips and runs of too many events keep their peak in program order. Returns nothing
/// for a step that fits, or that plays more events than kMostEventsOfSuggestions.
std::optional<Remedies> tried_remedies(const ScenarioSource& source,
                                       std::span<const std::string> settings,
                                       const Scenario& scenario, const StepResult& result,
                                       bool reuse, Watch* watch = nullptr,
                                       int jobs = available_jobs());

/// Returns settings as a shell takes them: `--set training.remat=none --set 'mesh={fsdp: x}'`.
std::string options_text(std::span<const std::string> settings);

/// Returns a section of the report. `all` names every change that was not tried.
std::string suggestions_text(const Suggestions& suggestions, const StepResult& result,
                             bool all = false);
/// Adds suggestions that were tried: `advice`, `advice_to_fit` for a step that may not fit, and
/// `advice_not_tried`.
void add_suggestions(Json& json, const Suggestions& suggestions, const StepResult& result);

}  // namespace podsim::scenarios
