// What `podsim run` computes: a step, or a program, and what is said of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/console/timed_watch.h"
#include "scenarios/console/usage.h"
#include "scenarios/describe/shown_scenario.h"
#include "scenarios/load/scenario_source.h"
#include "scenarios/report/verdict.h"
#include "scenarios/study/order_noise.h"
#include "scenarios/suggest/suggestions.h"
#include "scenarios/text/json_text.h"
#include "scenarios/timeline/timeline.h"

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
    /// The watch ended it when the step was there: what is missing of what is said of the step.
    std::string stopped_before{};
    std::string
        no_memory_for{};  ///< what was left out because it would have taken more memory than there is
};

/// Runs the scenario by those options. Throws sim::InputError; before a step is there also Stopped and what the watch
/// throws.
RunAnswer answer_run(const Usage& options, const ScenarioSource& source, TimedWatch& watch);

/// The report that the options ask for.
std::string answer_text(const RunAnswer& answer, const Usage& options);

/// What --json writes.
Json answer_json(const RunAnswer& answer);

/// The path of --trace, empty without it. Throws sim::InputError where nothing can be written there.
std::string trace_path(const Usage& options);
/// Whether a timeline can be made: not where a stop came before what it is made of.
bool has_trail(const RunAnswer& answer);
/// How much of it --trace-all asks for.
Detail trace_detail(const Usage& options);
/// Writes the timeline of a step or program there; nothing without a path, or where a stop has left none.
void write_trace(const RunAnswer& answer, const std::string& path, Detail detail);

}  // namespace podsim::scenarios
