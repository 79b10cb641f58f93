// The results of an HLO module as JSON.
#pragma once

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/hlo/hlo_request.h"
#include "scenarios/src/hlo/simulate_hlo.h"
#include "workloads/hlo/totals.h"

namespace podsim::scenarios {

Json totals_json(const HloInput& input, const workloads::hlo::Totals& totals);
Json hlo_json(const HloRequest& request, const HloResult& result, double wall_time_s);

}  // namespace podsim::scenarios
