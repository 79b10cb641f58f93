// A trace of requests as CSV: `arrival_s,prompt,output[,prefix][,class]`, a header first, a request a line.
//
// Columns are found by their names, in any order; unknown ones are errors. Arrivals are seconds, not descending; prompt
// and output whole numbers from 1, prefix (tokens of the prompt that a prefix cache holds) from 0 to prompt - 1, class
// from 0 (lower ones go first). At most a million rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/requests/client_request.h"

namespace podsim::scenarios {

/// Throws sim::InputError at file:line:column of what is wrong.
std::vector<Request> parse_trace(std::string_view text, const std::string& file);

}  // namespace podsim::scenarios
