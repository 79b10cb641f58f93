// The plans that come nearest in a search in which nothing fits, and the changes that would make them fit.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/search/search.h"
#include "scenarios/simulate/step_result.h"
#include "scenarios/space/search_space.h"
#include "scenarios/text/json_text.h"
#include "sim/base/quantity.h"

namespace podsim::scenarios {

struct NearMiss {
    PlanFacts facts{};
    Candidate candidate{};
    /// With its operations in program order, or what is known for sure where that is more.
    sim::Bytes peak{};
    double over =
        0;  ///< bytes beyond the capacity, or beyond what search.memory_margin leaves of it
    std::vector<std::pair<std::string, sim::Bytes>>
        at_peak{};        ///< in program order, by memory class
    Remedies remedies{};  ///< single changes with which it would fit (advice/memory_remedies.h)
};

inline constexpr std::size_t kNearMisses = 3;

/// The nearest, the nearest first; none of a search that has found a plan. Of the kMostMisses that are nearest by their bounds those are built whose
/// bound leaves open whether they are among them.
std::vector<NearMiss> near_misses(const SearchSpace& space, const SearchResult& result);

std::string near_misses_text(const SearchSpace& space, const std::vector<NearMiss>& misses);
Json near_misses_json(const SearchSpace& space, const std::vector<NearMiss>& misses);

}  // namespace podsim::scenarios
