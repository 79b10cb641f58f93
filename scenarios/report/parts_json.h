// Pieces that the JSON of steps, programs and collectives has in common.
#pragma once

#include <span>

#include "scenarios/report/verdict.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// `{name: seconds}`, in their order.
Json shares_json(std::span<const Share> shares);

/// By class: busy fraction and bytes of a mean link, and of the one that has most.
Json links_json(std::span<const LinkUse> links);

/// An entry an expectation; `analytic` or `simulated` holds the value, the other is null.
Json verdicts_json(std::span<const Verdict> verdicts);

}  // namespace podsim::scenarios
