// Why a step takes as long as it does, in sentences: the one verdict of text, JSON and page.
//
// It follows from the gap (explain/step_gap.h). A shortfall of the machine is named with its share of the gap and what is saved if it
// alone is removed; one that saves nothing alone is never the main cause. Critical path, links and breakdown are evidence beside it:
// they say how this run went, not what would be saved.
#pragma once

#include <string>
#include <vector>

#include "scenarios/simulate/step_result.h"

namespace podsim::scenarios {

/// A step that is not explained has its bound alone.
std::vector<std::string> diagnosis(const StepResult& result);

/// `62.07 ms, 71.60 ms if removed alone`; of one that saves nothing alone the cause with which it counts.
std::string shortfall_text(const LedgerRow& row);

}  // namespace podsim::scenarios
