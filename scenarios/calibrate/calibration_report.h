// A calibration as text and as JSON.
#pragma once

#include <string>

#include "scenarios/calibrate/calibrate.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

std::string calibration_text(const Calibration& calibration);
Json calibration_json(const Calibration& calibration);

}  // namespace podsim::scenarios
