// What `podsim run` and the other commands say about a result: text for people, JSON for programs.
//
// Text: aligned columns, human units at four significant digits; the printed parts of a step and of
// a gap add up to the printed total (largest remainders, format.h). The last line holds the wall
// time, the only part of a report that differs from run to run. JSON: schema `podsim/1`, keys with
// their units.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/program.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

inline constexpr const char* kSchemaName = "podsim/1";

/// An expectation of a scenario held against a result.
struct Verdict {
    Expectation expectation;
    double value = 0;  ///< in the base unit of the quantity
    bool analytic =
        false;         ///< the value is a formula's or an estimate's (formulas.h), not simulated
    double error = 0;  ///< relative: value / reference - 1
    bool holds = false;
};
std::vector<Verdict> judge(const Scenario& scenario, const StepResult& result);
bool all_hold(std::span<const Verdict> verdicts);
/// The value of a quantity with its unit: `2.200 s`, `45.00 %`, `1.900M tokens/s`.
std::string quantity_text(const std::string& quantity, double value);

/// The whole report of `podsim run`.
std::string step_report(const Scenario& scenario, const StepResult& result,
                        std::span<const Verdict> verdicts);
Json step_json(const Scenario& scenario, const StepResult& result,
               std::span<const Verdict> verdicts);

/// The same for a program scenario.
std::vector<Verdict> judge(const Scenario& scenario, const ProgramResult& result);
std::string program_report(const Scenario& scenario, const ProgramResult& result,
                           std::span<const Verdict> verdicts);
Json program_json(const Scenario& scenario, const ProgramResult& result,
                  std::span<const Verdict> verdicts);

/// Expectations as JSON.
Json verdicts_json(std::span<const Verdict> verdicts);

/// The spans of the reported chip as Chrome trace events (chrome://tracing, ui.perfetto.dev).
Json trace_json(const Scenario& scenario, const StepResult& result);

/// `MFU 45.00 % against 44.00 % (+2.27 %, within 10 %): holds`.
std::string verdict_text(const Verdict& verdict);

/// What unequal work of members costs, in a line; empty without.
std::string imbalance_report(const Scenario& scenario, const StepResult& result);

/// What the negative terms of a gap mean, a line for each kind; empty without.
std::string negative_terms(std::span<const Share> gap);

/// What the step could gain, a line for each ceiling; empty without.
std::string ceilings_report(const StepResult& result);

/// What a user should know of this layout, a sentence each: `fsdp spans slices, ...` when an axis that is
/// exchanged in every layer crosses the data-centre network and that is on the critical path for 2 % of the step.
std::vector<std::string> warnings(const Scenario& scenario, const StepResult& result);

/// The memory section of the report, with what would make a step fit that does not.
std::string memory_report(const Scenario& scenario, const StepResult& result);

/// `simulated 4 of 8960 chips (folded), 12345 events of which 1234 played, 0.012 s wall time`: the
/// last line. Without `played_events` nothing was skipped as a repeat.
std::string effort_line(int simulated_chips, int chips, std::uint64_t events, double wall_time_s,
                        std::optional<std::uint64_t> played_events = std::nullopt);

/// Links by class, busy fraction and bytes; empty without links.
std::string links_report(std::span<const LinkUse> links);
Json links_json(std::span<const LinkUse> links);

/// `v5p 16x20x28, 8960 chips, x y z wrapped`.
std::string slice_text(const Hardware& hardware);

}  // namespace podsim::scenarios
