// A lowered step on other hardware with the same links.
#pragma once

#include "scenarios/lower/lower_step.h"

namespace podsim::scenarios {

/// Gives the tasks of a lowered step the durations that they have on hardware with the same links, and says
/// whether one of them has changed. It is then what lower_step makes of that hardware: neither what compute takes
/// nor the launch cost decides how collectives are carried out.
bool retime(const workloads::StepPrograms& programs, const AchievedHardware& hardware,
            LoweredStep& step);

}  // namespace podsim::scenarios
