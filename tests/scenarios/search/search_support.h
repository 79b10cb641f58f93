// Helpers that tests of searches share.
#pragma once

#include <cstdint>

#include "scenarios/src/search/search.h"

namespace podsim::scenarios {

/// A scenario of which hundreds of plans are simulated in a second.
inline constexpr const char* kSmallDense =
    "hardware: {chip: v5p, slice: 2x2x4}\nmodel: {base: llama-3-8b, layers: 16}\n"
    "batch: {tokens: 64Ki, sequence: 4096}\n";

/// Returns the number of candidates with a known result.
inline std::uint64_t sum_of(const SearchResult& result) {
    return result.refused_in_all() + result.unfit + result.pruned + result.simulated;
}

}  // namespace podsim::scenarios
