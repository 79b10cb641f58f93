// The quantities of `expect:` that are formulas of sections 7 and 8 of the reference text, for a
// step of inference (workloads/bounds/book_inference.h).
#pragma once

#include <span>

#include "scenarios/src/scenario/formulas.h"

namespace podsim::scenarios {

std::span<const Formula> inference_formulas();

}  // namespace podsim::scenarios
