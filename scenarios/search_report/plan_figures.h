// What is said of plans that were found, in what a search goes by.
#pragma once

#include <optional>

#include "scenarios/search/answers.h"
#include "scenarios/space/search_space.h"

namespace podsim::scenarios {

/// None where no price is known.
std::optional<double> usd_per_million_tokens(const FoundPlan& plan);
/// How many times as bad as another.
double times_as_bad_as(const SearchSpace& space, const FoundPlan& plan, const FoundPlan& other);
/// Whether two lie within the error of a difference, so that only hardware can tell their order.
bool lies_within_error(const SearchSpace& space, const FoundPlan& plan, const FoundPlan& other);
/// Whether that error is known of such plans: published pairs are like them.
bool error_is_known(const SearchSpace& space, const FoundPlan& plan);

}  // namespace podsim::scenarios
