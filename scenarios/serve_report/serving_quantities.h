// What a serving run is held to (`expect`): the rows of served_quantities() (spec/quantity_names.h).
#pragma once

#include <string_view>
#include <vector>

#include "scenarios/report/verdict.h"
#include "scenarios/serve_report/summary.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// In its base unit: seconds, or a second. Throws std::out_of_range for what is not of serving runs.
double value_of(std::string_view quantity, const ServingSummary& summary);

/// Every expectation in turn.
std::vector<Verdict> judge(const Scenario& scenario, const ServingSummary& summary);

}  // namespace podsim::scenarios
