// `podsim run`: a step or a program, with its verdicts, advice and timeline.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/src/advise/order_noise.h"
#include "scenarios/src/advise/suggestions.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/cli/timed_watch.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/report/timeline.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/scenario_source.h"
#include "scenarios/src/scenario/shown_scenario.h"

namespace podsim::scenarios {

Usage run_usage();

struct RunAnswer {
    Scenario scenario;
    std::variant<StepResult, ProgramResult> result;
    std::optional<OrderNoise> noise{};    ///< of a step
    std::optional<Suggestions> advice{};  ///< of a step that is explained
    std::vector<Verdict> verdicts{};
    WallTime wall{};
    std::function<std::vector<ShownKey>()> settings{};  ///< of a step; only JSON shows them
    /// Names what is missing because the watch stopped the explanation after the step was done.
    std::string stopped_before{};
    /// Names what is left out because it would have taken more memory than there is.
    std::string no_memory_for{};
};

/// Runs the scenario by the options. Throws sim::InputError; until the step is done also Stopped
/// and what the watch throws.
RunAnswer answer_run(const Usage& options, const ScenarioSource& source, TimedWatch& watch);

/// Returns the report that the options ask for.
std::string answer_text(const RunAnswer& answer, const Usage& options);

/// Returns the document of --json.
Json answer_json(const RunAnswer& answer);

/// Returns the path of --trace, empty without it. Throws sim::InputError if it is not writable.
std::string trace_path(const Usage& options);
/// True if a timeline can be made. A stop before the trail is kept leaves none.
bool has_trail(const RunAnswer& answer);
/// Returns the detail that --trace-all asks for.
Detail trace_detail(const Usage& options);
/// Writes the timeline of a step or a program. Does nothing without a path or without a trail.
void write_trace(const RunAnswer& answer, const std::string& path, Detail detail);
/// Writes the page of an answer; does nothing without a path. Throws sim::InputError as
/// write_report does.
void write_run_report(const RunAnswer& answer, const Usage& options, const ScenarioSource& source,
                      const std::string& path);
int command_run(Arguments args, std::ostream& out, std::ostream& err);

}  // namespace podsim::scenarios
