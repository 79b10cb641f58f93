// Explains the fault of a text that is no YAML, in a writer's words.
#pragma once

#include <string>

#include "sim/base/error.h"

namespace podsim::scenarios {

/// Returns the fault. `problem` and `mark` are the parser's. A quote that is not closed is reported
/// at its opening: parsers notice it at the end of the text.
sim::InputError yaml_fault(const std::string& text, const std::string& problem,
                           const sim::SourceMark& mark);

}  // namespace podsim::scenarios
