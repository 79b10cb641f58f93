// The settings of a sweep of inference that no other beats both in time per token and in tokens a second and chip.
#pragma once

#include <span>
#include <vector>

#include "scenarios/study/sweep.h"

namespace podsim::scenarios {

/// By row: whether it is on the front of those with the same load, what is served: model, context, prompt, generated tokens, runs,
/// where these are varied. Rows that are refused, that do not fit, or that have no time per token never are;
/// of rows that are alike in both all are.
std::vector<bool> pareto_front(std::span<const SweepRow> rows, const Sweep& sweep);

}  // namespace podsim::scenarios
