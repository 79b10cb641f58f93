// Which links a collective waits for: those that are busy longest.
#pragma once

#include <string>
#include <vector>

#include "scenarios/lower/layout.h"
#include "scenarios/spec/hardware.h"
#include "sim/base/time.h"
#include "sim/workload/result.h"

namespace podsim::scenarios {

/// The links of one class that a collective waits for: those as busy as the busiest of all.
struct LimitingLinks {
    std::string name;          ///< `ici_x`, as in LinkUse
    std::string place;         ///< of one of them: `+x, from x=2 to x=3`; empty: all alike
    int links = 0;             ///< how many there are in the slice
    int of = 0;                ///< links of the class
    double busy_fraction = 0;  ///< of the busiest
};

/// Links count as equally busy within this part of the busiest link's time.
inline constexpr double kAlike = 0.01;

/// The busy time of the busiest link.
sim::Time busiest_time(const sim::ExecutionResult& run);

/// The classes whose busiest link is as busy as any, with the place of that link.
std::vector<LimitingLinks> limiting_links(const Hardware& hardware, const Layout& layout,
                                          const sim::ExecutionResult& run);

}  // namespace podsim::scenarios
