// The operations of a step against the rates of its chip, for the page's roofline chart.
#pragma once

#include "scenarios/run/step_trail.h"
#include "scenarios/simulate/step_result.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// Of the reported chip, at the rates of the catalogue:
///   `operations`  by name, pass and amount of work: `count`, `flops`, `vector_flops` and `hbm_bytes` of one, and how long one takes
///                 on average (`time_s`)
///   `flops`       of all of them
///   `peaks`       the MXU's for each dtype in use, and the VPU's, in FLOP/s
///   `rates`       HBM, all ICI links that leave a chip, PCIe and DCN where there is a host's share, in B/s
///   `moved`       what a chip moves over each of these
Json roofline_json(const Scenario& scenario, const StepResult& result, const StepTrail& trail);

}  // namespace podsim::scenarios
