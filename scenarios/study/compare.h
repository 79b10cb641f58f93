// Scenarios simulated and set beside the analytic estimates and the references that they state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/report/error_summary.h"
#include "scenarios/report/machine_text.h"
#include "scenarios/report/verdict.h"
#include "scenarios/serve_report/serving_run.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/program.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// One scenario: a step, a program, or a serving run, whose time is ServingSummary::between_tokens; times in seconds.
struct Comparison {
    Scenario scenario;
    std::string family;  ///< the folder that the scenario lies in
    std::variant<StepResult, ProgramResult, ServingRun> result;
    std::vector<Verdict> verdicts;
    WallTime wall{};  ///< as the caller has measured
    double simulated = 0;
    std::optional<double> book{};
    std::optional<double> lower{};   ///< roofline_lower; none of a serving run
    std::optional<double> serial{};  ///< roofline_serial; the same
    std::vector<Share> gap;
    std::vector<Share> gap_to_book;  ///< of one collective
};

/// Simulates it, folded. Throws as the simulations do.
Comparison compare(const Scenario& scenario, Watch* watch = nullptr);

/// Of which references: what was simulated is not averaged with what formulas give, which has no model in it.
enum class ReferenceKind { all, simulated, formula };

/// Errors of the references of a folder; of all folders with an empty name.
ErrorSummary errors_of(std::span<const Comparison> rows, const std::string& family,
                       ReferenceKind kind = ReferenceKind::all);
/// How many there are, and how many of them hold but differ (standing.h).
std::size_t references_of(std::span<const Comparison> rows, const std::string& family,
                          ReferenceKind kind = ReferenceKind::all);
std::size_t differing_of(std::span<const Comparison> rows, const std::string& family,
                         ReferenceKind kind);

/// The folders that have references, in the order of their first.
std::vector<std::string> families_of(std::span<const Comparison> rows);

}  // namespace podsim::scenarios
