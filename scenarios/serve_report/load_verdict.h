// Whether servers keep up with the requests that come: what the number in the system says while they do.
//
// A served load holds rate x latency requests in the system (Little), however many that are: what tells overload is that the number grows.
// N_i requests are there when the i-th of n comes, wherever they are: in line, on a server, or their caches on the way between two.
//   growth  h x the slope of N_i by least squares over i, from the middle arrival to the last, h = n / 2 arrivals apart
//   limit   3 sqrt(1.2 n): of a server that just keeps up N_i is a walk without drift, each step 1 less the departures between two
//           arrivals, of variance 2 at most with both as random as Poisson's. The line through h steps of such a walk grows with a variance
//           of 6 / 5 x 2 h at most: 36 times the integral of (s (1 - s))^2 is 6 / 5. A line, not the two ends: batches leave together
// A system that still fills grows, too. It has filled when those that came in its first moments have left the servers again: a growth beyond
// the limit counts where the first ceil(sqrt(n)) requests each took servers less time than there was before the middle arrival.
#pragma once

#include <cstdint>

#include "scenarios/serve/serving_result.h"

namespace podsim::scenarios {

struct LoadVerdict {
    double growth = 0;        ///< of the number in the system, from the middle arrival to the last
    double growth_per_s = 0;  ///< 0 where both come at once
    double limit = 0;         ///< what chance would leave of it
    std::int64_t in_system = 0;  ///< at the last arrival
    std::int64_t in_line = 0;    ///< of them
    double first_took_s = 0;     ///< the longest that one of the first requests took servers
    bool overloaded = false;
    /// The run cannot tell: nothing is served by the last arrival, the system still fills, or not even requests none of which leaves would
    /// be beyond chance (n of 43 or fewer). With `overloaded` false, too, the load is served.
    bool too_short = false;
};

/// Of n requests: 3 sqrt(1.2 n).
double overload_limit(std::int64_t requests);

/// `open`: requests come whatever the server does. A closed loop and requests that all come at once are never overloaded, nor too short:
/// there is no rate to keep up with.
LoadVerdict load_verdict_of(const ServingResult& result, bool open);

}  // namespace podsim::scenarios
