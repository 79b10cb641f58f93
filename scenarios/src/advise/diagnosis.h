// The causes of a step's time in sentences: the one verdict of text, JSON and page.
//
// It follows from the gap (simulate/step_gap.h). A shortfall of the machine is named with its share
// of the gap and the saving if it alone is removed; a shortfall that saves nothing alone is never
// the main cause. Critical path, links and breakdown are evidence beside it: they describe this
// run, not savings.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/simulate/step_result.h"

namespace podsim::scenarios {

/// Returns the sentences. A step that is not explained has only its bound.
std::vector<std::string> diagnosis(const StepResult& result);

/// Returns text such as `62.07 ms, 71.60 ms if removed alone`. For a shortfall that saves nothing
/// alone it names the cause together with which it counts.
std::string shortfall_text(const LedgerRow& row);

}  // namespace podsim::scenarios
