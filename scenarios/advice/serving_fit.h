// How large a batch the chips of a step of inference hold, by the same account of memory as the step's own.
#pragma once

#include <cstdint>

#include "scenarios/spec/scenario.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

/// The most sequences, of as many tokens as the step's, with which the program's memory stays within a chip's; 0: not one.
/// Of a step with a single run.
std::int64_t largest_batch(const Scenario& scenario);

/// As many sequences, or as many more as the fullest shard has room for: a shard has whole sequences, and the peak is that of the fullest.
std::int64_t in_whole_shards(const Scenario& scenario, std::int64_t sequences);

/// The peak of the plan with another batch, without a look-ahead.
sim::Bytes peak_with_batch(const Scenario& scenario, std::int64_t sequences);

}  // namespace podsim::scenarios
