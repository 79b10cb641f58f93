// Reports for people on the totals of an HLO module and on its simulated step.
#pragma once

#include <string>

#include "scenarios/src/hlo/hlo_request.h"
#include "scenarios/src/hlo/simulate_hlo.h"
#include "workloads/hlo/totals.h"

namespace podsim::scenarios {

std::string totals_report(const HloInput& input, const workloads::hlo::Totals& totals);
std::string hlo_report(const HloRequest& request, const HloResult& result, double wall_time_s);

}  // namespace podsim::scenarios
