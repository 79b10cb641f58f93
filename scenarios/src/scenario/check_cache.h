// Checks that a server's cache can serve its requests, and counts the buffers of a decode step.
#pragma once

#include <cstdint>
#include <span>

#include "scenarios/src/scenario/serving_spec.h"

namespace podsim::scenarios {

/// Returns the sequences of the compiled decode step that runs when `decoding` sequences decode.
std::int64_t padded(std::int64_t decoding, const BatchingSpec& batching);

/// Throws sim::InputError unless a server's cache holds each of these requests alone. If every slot
/// has its own buffer, the cache must also hold the buffers that a decode step reads.
void check_cache(const ServingSpec& spec, std::span<const Request> requests);

}  // namespace podsim::scenarios
