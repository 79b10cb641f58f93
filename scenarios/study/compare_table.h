// What `podsim compare` prints and writes.
#pragma once

#include <span>
#include <string>

#include "scenarios/study/compare.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// A line a scenario; where scenarios have references also those, each with a reason, and their errors by folder.
std::string compare_report(std::span<const Comparison> rows);

/// The JSON of `podsim run` of each scenario with the ratios simulated / estimate, and the errors by folder.
Json compare_json(std::span<const Comparison> rows);

/// The two largest terms between the simulated time and roofline_lower: `padding 40 %, latency 30 %`.
std::string largest_terms(const Comparison& row);

/// Of one collective, all terms between the reference text's time and the simulated one, as shares of the
/// text's: `from book: (n-1)/n -25.0 %, latency +8.6 %`; empty without a gap to the text.
std::string terms_from_book(const Comparison& row);

}  // namespace podsim::scenarios
