// Parts of a time with names.
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
    std::string
        cause{};  ///< what it is a part of, where it is one: `exposed collectives over tensor`
};

/// The sums of the shares with one cause (those without one stand for themselves), the largest first.
std::vector<Share> by_cause(std::span<const Share> shares);

}  // namespace podsim::scenarios
