// Expectations of a scenario (`expect`) compared with its result.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/program.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/scenario/standing.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

struct Verdict {
    Expectation expectation;
    double value = 0;       ///< in the base unit of the quantity
    bool analytic = false;  ///< a formula's or an estimate's value, not a simulated one
    double error = 0;       ///< relative: value / reference - 1
    bool holds = false;
};

/// Compares every expectation, in order, with value(quantity).
std::vector<Verdict> judge(std::span<const Expectation> expectations,
                           const std::function<double(std::string_view)>& value);

/// Does the same for a result. Throws sim::InputError with the nearest name for a quantity that is
/// neither a row of scenarios/src/scenario/quantity_names nor a formula.
std::vector<Verdict> judge(const Scenario& scenario, const StepResult& result);
std::vector<Verdict> judge(const Scenario& scenario, const ProgramResult& result);

bool all_hold(std::span<const Verdict> verdicts);

/// Returns `mfu holds: 44.00 % expected (+2.27 %, within 10 %)`.
std::string verdict_text(const Verdict& verdict);

/// Returns all verdicts as a table; empty without any.
std::string verdicts_report(std::span<const Verdict> verdicts);

}  // namespace podsim::scenarios
