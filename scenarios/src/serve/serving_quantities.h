// Expectations of a serving run (`expect`): the rows of served_quantities()
// (scenarios/src/scenario/quantity_names.h).
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/serve/summary.h"

namespace podsim::scenarios {

/// Returns a value in its base unit: seconds, or a second. Throws std::out_of_range for a quantity
/// that serving runs do not have.
double value_of(std::string_view quantity, const ServingSummary& summary);

/// Compares every expectation, in order.
std::vector<Verdict> judge(const Scenario& scenario, const ServingSummary& summary);

}  // namespace podsim::scenarios
