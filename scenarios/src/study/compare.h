// Simulates scenarios and compares them with analytic estimates and with the references that they
// state.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/src/report/error_summary.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/program.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/serve/serving_run.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// One scenario: a step, a program, or a serving run, whose time is ServingSummary::between_tokens.
/// Times are in seconds.
struct Comparison {
    Scenario scenario;
    std::string family;  ///< folder of the scenario
    std::variant<StepResult, ProgramResult, ServingRun> result;
    std::vector<Verdict> verdicts;
    WallTime wall{};  ///< as measured by the caller
    double simulated = 0;
    std::optional<double> book{};
    std::optional<double> lower{};   ///< roofline_lower; none for a serving run
    std::optional<double> serial{};  ///< roofline_serial; none for a serving run
    std::vector<Share> gap;
    std::vector<Share> gap_to_book;  ///< only for one collective
};

/// Simulates a scenario in a folded run. Throws as the simulations do.
Comparison compare(const Scenario& scenario, Watch* watch = nullptr);

/// References to include. Simulated values are not averaged with values of formulas, in which there
/// is no model.
enum class ReferenceKind { all, simulated, formula };

/// Returns the errors of the references of a folder, or of all folders if the name is empty.
ErrorSummary errors_of(std::span<const Comparison> rows, const std::string& family,
                       ReferenceKind kind = ReferenceKind::all);
/// Return the number of references, and the number of them that hold but differ (standing.h).
std::size_t references_of(std::span<const Comparison> rows, const std::string& family,
                          ReferenceKind kind = ReferenceKind::all);
std::size_t differing_of(std::span<const Comparison> rows, const std::string& family,
                         ReferenceKind kind);

/// Returns the folders that have references, in the order of their first.
std::vector<std::string> families_of(std::span<const Comparison> rows);

}  // namespace podsim::scenarios
