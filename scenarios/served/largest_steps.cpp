#include "scenarios/served/largest_steps.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "scenarios/serve/step_cost.h"

namespace podsim::scenarios {
namespace {

std::int64_t most_at_once(const ServingSpec& spec, std::span<const Request> requests) {
    const std::int64_t come = spec.load.arrivals == ArrivalKind::concurrency
                                  ? std::min(std::ssize(requests), spec.load.concurrency)
                                  : std::ssize(requests);
    return std::min(spec.batching.slots, come);
}

/// Tokens to be computed of each, the most first.
std::vector<std::int64_t> to_compute(const ServingSpec& spec, std::span<const Request> requests,
                                     bool again) {
    const std::int64_t page = spec.cache.page;
    std::vector<std::int64_t> tokens;
    tokens.reserve(requests.size());
    for (const Request& request : requests) {
        tokens.push_back(request.prompt - request.prefix / page * page +
                         (again ? request.output - 1 : 0));
    }
    std::ranges::sort(tokens, std::greater{});
    return tokens;
}

/// So many tokens of so many prompts, as equal as they can be.
StepShape prompt_step(std::int64_t sequences, std::int64_t tokens) {
    StepShape shape;
    const std::int64_t count = std::min(sequences, tokens);
    for (std::int64_t i = 0; i < count; ++i) {
        shape.prompts.push_back({tokens / count + (i < tokens % count ? 1 : 0), 0, true});
    }
    return shape;
}

StepShape decode_step(const ServingSpec& spec, std::int64_t sequences) {
    return as_compiled({.decoding = sequences, .decode_tokens = 1 + spec.speculation.tokens}, spec);
}

/// Of a budget: prompts alone, and one beside decodes where steps mix them.
void add_chunks(std::vector<StepShape>& steps, const ServingSpec& spec, std::int64_t sequences,
                std::span<const std::int64_t> tokens) {
    const std::int64_t budget = spec.batching.budget;
    const std::int64_t all = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0});
    steps.push_back(prompt_step(sequences, std::min(budget, all)));
    const std::int64_t beside = budget - (sequences - 1) * (1 + spec.speculation.tokens);
    if (spec.batching.mixed && sequences > 1 && beside > 0) {
        steps.push_back(decode_step(spec, sequences - 1));
        steps.back().prompts.push_back({std::min(beside, tokens.front()), 0, true});
    }
}

}  // namespace

StepShape longest_prompt(const ServingSpec& spec, std::span<const Request> requests, bool again) {
    return prompt_step(1, to_compute(spec, requests, again).front());
}

std::vector<StepShape> largest_steps(const ServingSpec& spec, std::span<const Request> requests,
                                     bool again) {
    std::vector<StepShape> steps;
    const std::int64_t sequences = most_at_once(spec, requests);
    if (spec.disaggregation.has_value() ||
        std::ranges::any_of(requests, [](const Request& one) { return one.output > 1; })) {
        steps.push_back(decode_step(spec, sequences));
    }
    if (spec.disaggregation.has_value()) {
        return steps;
    }
    std::vector<std::int64_t> tokens = to_compute(spec, requests, again);
    tokens.resize(static_cast<std::size_t>(sequences));
    switch (spec.batching.kind) {
        case BatchingKind::fixed:
            steps.push_back(prompt_step(
                sequences, std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0})));
            break;
        case BatchingKind::continuous:
            steps.push_back(prompt_step(1, tokens.front()));
            break;
        case BatchingKind::chunked:
            add_chunks(steps, spec, sequences, tokens);
            break;
    }
    return steps;
}

}  // namespace podsim::scenarios
