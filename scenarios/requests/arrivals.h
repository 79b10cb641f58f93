// How requests come: at random with a rate, as a trace says, or as many at once as clients are, each asking again when it
// is answered.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/requests/client_request.h"
#include "scenarios/requests/lengths.h"

namespace podsim::scenarios {

enum class ArrivalKind {
    poisson,  ///< independent exponential times between them
    trace,    ///< the times of a file
    concurrency,  ///< closed loop: a request arrives when another ends, so that so many are in the system
};

struct LoadSpec {
    ArrivalKind arrivals = ArrivalKind::poisson;
    double rate = 1;               ///< poisson: requests a second
    std::int64_t concurrency = 1;  ///< closed loop: clients
    std::int64_t requests = 1;     ///< how many in all; a trace: at most its rows
    std::uint64_t seed = 1;
    LengthSpec prompt;
    LengthSpec output;
    double prefix_share = 0;  ///< of each prompt: tokens that a prefix cache holds, rounded down
    std::int64_t common_prefix = 0;  ///< tokens with which every prompt begins, held once
    std::vector<Request>
        trace;  ///< by arrival; with other arrivals its lengths are drawn, row by row
};

/// The requests in the order of their arrival (in a closed loop: of their number), the same for the same seed.
/// Throws sim::TimeOverflow where they would come later than the clock reaches.
std::vector<Request> draw_requests(const LoadSpec& load);

}  // namespace podsim::scenarios
