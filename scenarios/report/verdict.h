// Expectations of a scenario (`expect`) held against its result.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/program.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/spec/standing.h"

namespace podsim::scenarios {

struct Verdict {
    Expectation expectation;
    double value = 0;       ///< in the base unit of the quantity
    bool analytic = false;  ///< a formula's or an estimate's value, not a simulated one
    double error = 0;       ///< relative: value / reference - 1
    bool holds = false;
};

/// Every expectation in turn, held against value(quantity).
std::vector<Verdict> judge(std::span<const Expectation> expectations,
                           const std::function<double(std::string_view)>& value);

/// The same of a result. Throws sim::InputError with the nearest name for a quantity that no row of
/// spec/quantity_names and no formula knows.
std::vector<Verdict> judge(const Scenario& scenario, const StepResult& result);
std::vector<Verdict> judge(const Scenario& scenario, const ProgramResult& result);

bool all_hold(std::span<const Verdict> verdicts);

/// `mfu holds: 44.00 % expected (+2.27 %, within 10 %)`.
std::string verdict_text(const Verdict& verdict);

/// All verdicts as a table; empty without one.
std::string verdicts_report(std::span<const Verdict> verdicts);

}  // namespace podsim::scenarios
