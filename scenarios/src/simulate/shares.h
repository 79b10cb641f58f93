// Named shares of a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// A named share of a time, in whole picoseconds so that shares add up exactly.
struct Share {
    std::string name;
    sim::Time time;
    /// The larger cause to which the share belongs, if any: `exposed collectives over tensor`.
    std::string cause{};
};

/// Returns the sums of the shares by cause, largest first. Shares without a cause stand for
/// themselves.
std::vector<Share> by_cause(std::span<const Share> shares);

}  // namespace podsim::scenarios
