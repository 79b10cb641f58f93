// Judges if a value agrees with its reference.
#pragma once

#include <string_view>

namespace podsim::scenarios {

/// True if a relative error within its tolerance is still no agreement. It is above 5 %, or takes
/// more than four fifths of a tolerance above 5 %, which then has its size because of the result.
/// The scenario states the reason, as the source.
bool differs(double error, double within);

/// Returns `holds`, `differs`, or `FAILS` beyond the tolerance.
std::string_view standing(double error, double within);

}  // namespace podsim::scenarios
