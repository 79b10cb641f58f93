// The text and the JSON of `podsim compare`.
#pragma once

#include <span>
#include <string>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/study/compare.h"

namespace podsim::scenarios {

/// Returns one line per scenario. If scenarios have references, it adds these, each with a reason,
/// and their errors by folder.
std::string compare_report(std::span<const Comparison> rows);

/// Returns the JSON of `podsim run` for each scenario with the ratios simulated / estimate, and the
/// errors by folder.
Json compare_json(std::span<const Comparison> rows);

/// Returns the two largest terms between the simulated time and roofline_lower: `padding 40 %,
/// latency 30 %`.
std::string largest_terms(const Comparison& row);

/// Returns all terms of one collective between the reference text's time and the simulated one, as
/// fractions of the text's: `from book: (n-1)/n -25.0 %, latency +8.6 %`. Empty without a gap to
/// the text.
std::string terms_from_book(const Comparison& row);

}  // namespace podsim::scenarios
