// Sections that the JSON of steps, programs and collectives has in common.
#pragma once

#include <span>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Returns `{name: seconds}`, in the order of `shares`.
Json shares_json(std::span<const Share> shares);

/// Returns, by class, the busy fraction and bytes of the mean link and of the busiest one.
Json links_json(std::span<const LinkUse> links);

/// Returns one entry per expectation; `analytic` or `simulated` holds the value, the other is null.
Json verdicts_json(std::span<const Verdict> verdicts);

}  // namespace podsim::scenarios
