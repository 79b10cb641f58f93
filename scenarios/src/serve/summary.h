// Percentiles, rates and goodput of a serving run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/serve/serving_result.h"

namespace podsim::scenarios {

// Do servers keep up with arriving requests? The growth of the number in the system answers.
//
// A served load holds rate x latency requests in the system (Little), however many that are;
// overload shows as growth of that number. N_i requests are in the system when the i-th of n
// arrives: in line, on a server, or with their caches in transfer between two.
//   growth  h x the slope of N_i by least squares over i, from the middle arrival to the last,
//           h = n / 2 arrivals apart
//   limit   3 sqrt(1.2 n). For a server that just keeps up, N_i is a walk without drift. Each step
//           is 1 less the departures between two arrivals, of variance 2 at most if both are as
//           random as Poisson's. The line through h steps of such a walk grows with a variance of
//           6 / 5 x 2 h at most: 36 times the integral of (s (1 - s))^2 is 6 / 5. A line, not the
//           two ends: batches leave together
// A system that still fills grows, too. It has filled when the first requests have left the servers
// again: a growth beyond the limit counts if each of the first ceil(sqrt(n)) requests took servers
// less time than passed before the middle arrival.

struct LoadVerdict {
    /// Growth of the number in the system, from the middle arrival to the last.
    double growth = 0;
    double growth_per_s = 0;     ///< 0 if both arrive at once
    double limit = 0;            ///< growth that chance alone can explain
    std::int64_t in_system = 0;  ///< at the last arrival
    std::int64_t in_line = 0;    ///< of these
    /// The longest service time of the first requests.
    double first_took_s = 0;
    bool overloaded = false;
    /// The run is too short for a verdict. Either nothing is served by the last arrival, or the
    /// system still fills, or even requests of which none leaves would not exceed chance (n of 43
    /// or fewer). If `overloaded` is false, too, the load is served.
    bool too_short = false;
};

/// Returns the limit for n requests: 3 sqrt(1.2 n).
double overload_limit(std::int64_t requests);

/// `open`: requests arrive independently of the server. A closed loop and requests that all arrive
/// at once are never overloaded, nor too short: there is no rate to keep up with.
LoadVerdict load_verdict_of(const ServingResult& result, bool open);

/// Distribution of times, in seconds; all 0 without any. The quantile q of n ordered values is at
/// position q (n - 1), linear between neighbours (numpy's default).
struct Spread {
    std::size_t count = 0;
    double mean = 0;
    double median = 0;
    double p90 = 0;
    double p99 = 0;
    double largest = 0;
};

Spread spread_of(std::vector<sim::Time> times);

struct ServingSummary {
    Spread first_token;  ///< TTFT: arrival to first token
    /// TPOT: (end - first token) / (tokens - 1), of answers of two tokens or more.
    Spread a_token;
    /// Inter-token latency: between steps that made tokens of one answer.
    Spread gap;
    Spread whole;  ///< arrival to last token
    Spread wait;   ///< arrival to the first step
    /// Duration of the run: from the first arrival to the last token.
    double seconds = 0;
    double requests_per_s = 0;
    double output_per_s = 0;  ///< tokens
    double prompt_per_s = 0;
    /// Arriving requests, from the first arrival to the last, and those that ended in that time;
    /// none if all arrive at once.
    std::optional<double> offered_per_s;
    std::optional<double> served_per_s;
    LoadVerdict load;  ///< do the servers keep up?
    /// Fraction of the requests that meet the objective.
    double good_share = 1;
    double goodput_per_s = 0;  ///< of requests
    /// Fraction of the run, mean over disaggregated prefill servers.
    double prefill_busy = 0;
    double a_transfer = 0;  ///< mean seconds of a cache transfer
    /// Fraction of the run that a prefill server's caches are in transfer.
    double sending = 0;
    /// True if servers are busier sending caches than computing prompts and tokens.
    bool transfers_limit = false;
    double generate_busy = 0;  ///< the same for the other servers
    /// Fraction of the slots, mean over servers and the run.
    double slots_used = 0;
    double mean_pages = 0;  ///< of a server
    std::int64_t most_pages = 0;
    std::int64_t preemptions = 0;
    std::int64_t preempted_requests = 0;
    /// Tokens that prefills computed again after preemptions.
    std::int64_t recomputed = 0;
    /// Per sequence and decode step: more than 1 with speculation.
    double tokens_a_decode = 1;
    double accepted_share = 0;  ///< of the drafted tokens

    /// Returns the median time between two tokens; if answers have one token, the time to that one.
    [[nodiscard]] double between_tokens() const {
        return gap.median > 0 ? gap.median : first_token.median;
    }
};

ServingSummary summarise(const ServingSpec& spec, const ServingResult& result);

}  // namespace podsim::scenarios
