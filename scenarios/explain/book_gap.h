// What lies between the reference text's time of one collective and its bound.
#pragma once

#include <vector>

#include "scenarios/explain/shares.h"
#include "scenarios/spec/hardware.h"
#include "scenarios/spec/request.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// The two terms from `book`, the text's time, to `lower`, the physical bound (both rounded down to ps): `text's latency`
/// where the text's time is latency alone, `(n-1)/n` what a chip need not receive and the text counts.
std::vector<Share> book_to_bound(const IdealHardware& hardware, const StageCollective& stage,
                                 sim::Seconds book, sim::Seconds lower);

}  // namespace podsim::scenarios
