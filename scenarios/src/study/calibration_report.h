// Reports a calibration as text and as JSON.
#pragma once

#include <string>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/study/calibrate.h"

namespace podsim::scenarios {

std::string calibration_text(const Calibration& calibration);
Json calibration_json(const Calibration& calibration);

}  // namespace podsim::scenarios
