// The same as JSON.
#pragma once

#include "scenarios/hlo/hlo_request.h"
#include "scenarios/hlo/simulate_hlo.h"
#include "scenarios/text/json_text.h"
#include "workloads/hlo_totals/totals.h"

namespace podsim::scenarios {

Json totals_json(const HloInput& input, const workloads::hlo::Totals& totals);
Json hlo_json(const HloRequest& request, const HloResult& result, double wall_time_s);

}  // namespace podsim::scenarios
