// The links for which a collective waits: those that are busy longest.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/simulate/layout.h"
#include "sim/base/time.h"
#include "sim/workload/result.h"

namespace podsim::scenarios {

/// The links of one class for which a collective waits: those as busy as the busiest of all.
struct LimitingLinks {
    std::string name;  ///< `ici_x`, as in LinkUse
    /// Position of one of them, as in `+x, from x=2 to x=3`; empty if all are alike.
    std::string place;
    int links = 0;             ///< limiting links in the slice
    int of = 0;                ///< links of the class
    double busy_fraction = 0;  ///< of the busiest link
};

/// Links are equally busy if they lie within this fraction of the busiest link's time.
inline constexpr double kAlike = 0.01;

/// The busy time of the busiest link.
sim::Time busiest_time(const sim::ExecutionResult& run);

/// Returns the classes whose busiest link is as busy as any, with the position of that link.
std::vector<LimitingLinks> limiting_links(const Hardware& hardware, const Layout& layout,
                                          const sim::ExecutionResult& run);

}  // namespace podsim::scenarios
