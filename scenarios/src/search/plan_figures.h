// Figures of the plans that a search has found, under its objective.
#pragma once

#include <optional>

#include "scenarios/src/search/answers.h"
#include "scenarios/src/search/search_space.h"

namespace podsim::scenarios {

/// Returns none if no price is known.
std::optional<double> usd_per_million_tokens(const FoundPlan& plan);
/// Returns how many times worse `plan` is than `other`.
double times_as_bad_as(const SearchSpace& space, const FoundPlan& plan, const FoundPlan& other);
/// True if two plans lie within the error of a difference, so that only hardware can tell their
/// order.
bool lies_within_error(const SearchSpace& space, const FoundPlan& plan, const FoundPlan& other);
/// True if that error is known for these plans: published pairs are like them.
bool error_is_known(const SearchSpace& space, const FoundPlan& plan);

}  // namespace podsim::scenarios
