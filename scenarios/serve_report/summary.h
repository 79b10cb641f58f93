// Percentiles, rates and goodput of a serving run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/serve/serving_result.h"
#include "scenarios/serve/serving_spec.h"
#include "scenarios/serve_report/load_verdict.h"

namespace podsim::scenarios {

/// Of times, in seconds; all 0 without any. The quantile q of n values in order is at place q (n - 1), linear between
/// neighbours (numpy's default).
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
    Spread a_token;  ///< TPOT: (end - first token) / (tokens - 1), of answers of two tokens or more
    Spread gap;      ///< inter-token latency: between steps that made tokens of one answer
    Spread whole;    ///< arrival to last token
    Spread wait;     ///< arrival to the first step
    double seconds = 0;  ///< of the run: from the first arrival to the last token
    double requests_per_s = 0;
    double output_per_s = 0;  ///< tokens
    double prompt_per_s = 0;
    /// Requests, from the first arrival to the last, and those that ended in that time; none when all come at once.
    std::optional<double> offered_per_s;
    std::optional<double> served_per_s;
    LoadVerdict load;          ///< whether those that come are served
    double good_share = 1;     ///< of requests: those that meet the objective
    double goodput_per_s = 0;  ///< of requests
    double prefill_busy = 0;   ///< share of the run, mean over disaggregated prefill servers
    double a_transfer = 0;     ///< seconds that a cache is on its way, mean
    double sending = 0;  ///< share of the run that caches of a prefill server are on their way
    /// Whether servers are busier sending caches than computing prompts and tokens.
    bool transfers_limit = false;
    double generate_busy = 0;  ///< the same of the others
    double slots_used = 0;     ///< share of the slots, mean over servers and the run
    double mean_pages = 0;     ///< of a server
    std::int64_t most_pages = 0;
    std::int64_t preemptions = 0;
    std::int64_t preempted_requests = 0;
    std::int64_t recomputed = 0;  ///< tokens that prefills computed again after preemptions
    double tokens_a_decode = 1;   ///< of a sequence in a decode step: more than 1 with speculation
    double accepted_share = 0;    ///< of the drafted tokens

    /// The median between two tokens; where answers have one, to that one.
    [[nodiscard]] double between_tokens() const {
        return gap.median > 0 ? gap.median : first_token.median;
    }
};

ServingSummary summarise(const ServingSpec& spec, const ServingResult& result);

}  // namespace podsim::scenarios
