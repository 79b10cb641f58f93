// Parts of a time with names.
#pragma once

#include <string>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// A named share of a time, in whole picoseconds so that shares add up exactly.
struct Share {
    std::string name;
    sim::Time time;
};

}  // namespace podsim::scenarios
