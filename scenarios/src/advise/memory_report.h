// The memory section of a step's report: the peak by class, and remedies for a step that does not
// fit, found by trying single changes of the plan.
#pragma once

#include <string>

#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Returns the words for a peak: `fits, with 3.2 GB to spare`, `tight: 289.4 MB too much, ...`,
/// `does NOT fit: 1.2 GB too much`.
std::string memory_words(const MemoryUse& memory);

/// Returns the words for the look-ahead of weight gathers if memory lowered it or might have:
/// `look-ahead 1 -> 0 to fit: +5.432 s`, `the look-ahead of 1 layer stays as asked`; else empty.
std::string look_ahead_words(const StepResult& result);

std::string memory_report(const Scenario& scenario, const StepResult& result);

}  // namespace podsim::scenarios
