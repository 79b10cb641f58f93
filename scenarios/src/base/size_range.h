// Sizes on a command line: one (`1e9`), or a range for a sweep.
//
//   FROM:TO          one size per decade: 1e3:1e10 is 1e3, 1e4, ... 1e10
//   FROM:TO:POINTS   POINTS sizes per decade (1 to 20): FROM times 10^(i/POINTS) at three
//                    significant digits, as 1, 2.15, 4.64, 10 for 3
//   FROM:TO:xFACTOR  each FACTOR times the one before: 1KiB:64MiB:x2
//
// Both ends are always sizes of the range; those between are rounded to whole bytes.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/quantity.h"

namespace podsim::scenarios {

inline constexpr std::size_t kMostSizes = 200;

/// True if a text is a range.
bool is_range(std::string_view text);

/// Returns the sizes, ascending. Throws sim::InputError (without a source position) for a text that
/// is neither a size nor a range, and for sizes of 0 or above 1 PB.
std::vector<sim::Bytes> parse_sizes(std::string_view text);

}  // namespace podsim::scenarios
