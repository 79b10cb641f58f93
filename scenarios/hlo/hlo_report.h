// What an HLO module does, and how its step went, for people.
#pragma once

#include <string>

#include "scenarios/hlo/hlo_request.h"
#include "scenarios/hlo/simulate_hlo.h"
#include "workloads/hlo_totals/totals.h"

namespace podsim::scenarios {

std::string totals_report(const HloInput& input, const workloads::hlo::Totals& totals);
std::string hlo_report(const HloRequest& request, const HloResult& result, double wall_time_s);

}  // namespace podsim::scenarios
