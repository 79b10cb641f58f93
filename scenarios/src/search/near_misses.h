// The plans nearest to fitting in a search in which nothing fits, and the changes that would make
// them fit.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/search/search.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/simulate/step_result.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

struct NearMiss {
    PlanFacts facts{};
    Candidate candidate{};
    /// Peak with its operations in program order, or the bytes known for sure if these are more.
    sim::Bytes peak{};
    /// Bytes beyond the capacity, or beyond the fraction of it that search.memory_margin leaves.
    double over = 0;
    /// Bytes at the peak in program order, by memory class.
    std::vector<std::pair<std::string, sim::Bytes>> at_peak{};
    /// Single changes with which it would fit (advise/memory_remedies.h).
    Remedies remedies{};
};

inline constexpr std::size_t kNearMisses = 3;

/// Returns the nearest plans, the nearest first; none if the search has found a plan. It builds
/// only those of the kMostMisses nearest by their bounds whose bound leaves open whether they are
/// among them.
std::vector<NearMiss> near_misses(const SearchSpace& space, const SearchResult& result);

std::string near_misses_text(const SearchSpace& space, const std::vector<NearMiss>& misses);
Json near_misses_json(const SearchSpace& space, const std::vector<NearMiss>& misses);

}  // namespace podsim::scenarios
