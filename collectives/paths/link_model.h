// The links in a closed form: they are all alike.
#pragma once

#include "sim/base/quantity.h"
#include "sim/workload/machine.h"

namespace podsim::collectives {

struct LinkModel {
    sim::BytesPerSecond rate;
    sim::Seconds latency;
    sim::LatencyRule rule = sim::LatencyRule::additive;
};

}  // namespace podsim::collectives
