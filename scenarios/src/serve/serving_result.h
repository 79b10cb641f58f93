// The result of a serving run, request by request and server by server.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/src/scenario/client_request.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

struct ServedRequest {
    std::int64_t prompt = 0;
    std::int64_t output = 0;
    std::int64_t prefix = 0;  ///< tokens of the prompt that are not computed
    sim::Time arrived;
    sim::Time started;   ///< time when a server first took it
    sim::Time first;     ///< time of its first token
    sim::Time finished;  ///< time of its last token
    std::int64_t preemptions = 0;
};

/// Use of a server over the whole run, from the first arrival to the end of the last request.
struct ServerUse {
    sim::Time busy;  ///< steps, including the host's time
    std::int64_t steps = 0;
    std::int64_t prefill_tokens = 0;  ///< including recomputed ones
    double mean_running = 0;          ///< sequences with a slot
    std::int64_t most_running = 0;
    double mean_pages = 0;
    std::int64_t most_pages = 0;
};

struct QueueUse {
    double mean = 0;  ///< waiting requests, over the whole run
    std::int64_t most = 0;
    std::int64_t at_last_arrival = 0;
};

/// Both sides of Little's law: the integral of the number in the system, and the sum of the times
/// that requests were in it.
struct LittleLaw {
    double integral_s = 0;
    double sojourns_s = 0;
    bool equal = false;  ///< equal to the picosecond
};

struct ServingResult {
    std::vector<ServedRequest> requests;  ///< in the order of their numbers
    /// Time between a request's steps that made tokens, for all requests.
    std::vector<sim::Time> gaps;
    sim::Time begin;  ///< the first arrival
    sim::Time end;
    sim::Time last_arrival;
    std::vector<ServerUse> prefill;   ///< servers of disaggregated prefill
    std::vector<ServerUse> generate;  ///< the other servers
    QueueUse queue;
    std::int64_t most_in_system = 0;
    double mean_in_system = 0;
    LittleLaw little;
    std::int64_t drafted = 0;
    std::int64_t accepted = 0;
    std::int64_t decodes = 0;  ///< sum over decode steps of their sequences
    std::int64_t decoded = 0;  ///< tokens that these made
    sim::Time transfers;       ///< total transfer time of caches
    std::int64_t caches_sent = 0;
    std::int64_t events = 0;

    /// Duration of the run, the base of averages and fractions of time: a trace may begin at any
    /// time.
    [[nodiscard]] sim::Time took() const { return end - begin; }
};

}  // namespace podsim::scenarios
