// Whether a value that is held to a reference agrees with it.
#pragma once

#include <string_view>

namespace podsim::scenarios {

/// Whether a relative error within its tolerance is still no agreement: it is above 5 %, or takes more than four fifths of a
/// tolerance above 5 %, which then stands where it does because of the result. Its scenario says the reason, as the source.
bool differs(double error, double within);

/// `holds`, `differs`, or `FAILS` beyond the tolerance.
std::string_view standing(double error, double within);

}  // namespace podsim::scenarios
