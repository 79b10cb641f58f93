#include "scenarios/requests/arrivals.h"

#include <algorithm>
#include <cmath>

namespace podsim::scenarios {
namespace {

enum Stream : std::uint64_t { kArrivals, kPrompts, kOutputs, kRows };

/// The part of a prompt that a prefix cache holds: never its last token, whose logits have to be computed.
std::int64_t prefix_of(const LoadSpec& load, std::int64_t prompt) {
    if (load.common_prefix > 0) {
        return prompt > load.common_prefix ? load.common_prefix : 0;
    }
    const double share = load.prefix_share * static_cast<double>(prompt);
    return std::min(static_cast<std::int64_t>(share), prompt - 1);
}

}  // namespace

std::vector<Request> draw_requests(const LoadSpec& load) {
    const auto rows = static_cast<std::int64_t>(load.trace.size());
    if (load.arrivals == ArrivalKind::trace) {
        const auto end = load.trace.begin() + std::min(load.requests, rows);
        return {load.trace.begin(), end};
    }
    Draws arrivals(load.seed, kArrivals);
    Draws prompts(load.seed, kPrompts);
    Draws outputs(load.seed, kOutputs);
    Draws row(load.seed, kRows);
    std::vector<Request> requests;
    requests.reserve(static_cast<std::size_t>(load.requests));
    double seconds = 0;
    for (std::int64_t i = 0; i < load.requests; ++i) {
        Request request;
        if (rows > 0) {
            request = load.trace[static_cast<std::size_t>(row.whole(0, rows - 1))];
        } else {
            request.prompt = draw_length(load.prompt, prompts);
            request.output = draw_length(load.output, outputs);
            request.prefix = prefix_of(load, request.prompt);
        }
        request.arrival = {};
        if (load.arrivals == ArrivalKind::poisson) {
            seconds += arrivals.exponential() / load.rate;
            request.arrival = sim::round_up(sim::Seconds(seconds));
        }
        requests.push_back(request);
    }
    return requests;
}

}  // namespace podsim::scenarios
