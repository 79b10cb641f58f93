#include "scenarios/serve_report/balance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "scenarios/serve/step_cost.h"

namespace podsim::scenarios {
namespace {

/// Tokens that a sequence makes in a decode step, on average: 1 + p + ... + p^k.
double tokens_a_step(const SpeculationSpec& speculation) {
    double tokens = 1;
    double accepted = 1;
    for (std::int64_t i = 0; i < speculation.tokens; ++i) {
        accepted *= speculation.acceptance;
        tokens += accepted;
    }
    return tokens;
}

double mean_prefill(const ServingSpec& spec, const StepCost& cost,
                    const std::vector<Request>& requests) {
    const std::size_t apart = std::max<std::size_t>(1, requests.size() / kPrompts);
    sim::Time sum;
    double count = 0;
    for (std::size_t i = 0; i < requests.size(); i += apart) {
        const std::int64_t prefix = requests[i].prefix / spec.cache.page * spec.cache.page;
        const StepShape step{.prompts = {{requests[i].prompt - prefix, prefix, true}}};
        sum += cost.of(step, true);
        ++count;
    }
    return sum.seconds() / count;
}

/// Pages of its own that a request holds while it decodes, on average.
double decoding_pages(const ServingSpec& spec, const Request& request) {
    const std::int64_t page = spec.cache.page;
    const double held = spec.cache.reserve
                            ? static_cast<double>(most_cached(request.prompt, request.output,
                                                              spec.speculation.tokens))
                            : static_cast<double>(request.prompt + 1 + spec.speculation.tokens) +
                                  static_cast<double>(request.output - 2) / 2;
    const std::int64_t shared = spec.load.common_prefix > 0 ? request.prefix / page * page : 0;
    return static_cast<double>(spec.cache.pages_for_mean(held - static_cast<double>(shared)));
}

/// Sequences that decode at once at the most: the cache may have room for fewer than there are slots. Buffers of all slots fit.
std::int64_t sequences_at_once(const ServingSpec& spec, double pages_each) {
    const std::int64_t slots = spec.batching.slots;
    if (!spec.cache.pages || spec.cache.length > 0) {
        return slots;
    }
    const std::int64_t common =
        spec.cache.pages_for(spec.load.common_prefix / spec.cache.page * spec.cache.page);
    const std::int64_t of_part = *spec.cache.pages / spec.cache.parts - common;
    const double most = std::floor(static_cast<double>(of_part) / pages_each) *
                        static_cast<double>(spec.cache.parts);
    return most < static_cast<double>(slots) ? std::max<std::int64_t>(1, std::llround(most))
                                             : slots;
}

}  // namespace

double Balance::most_per_s(double prefill_servers, double generate_servers) const {
    const double decoding =
        generate_s > 0 ? generate_servers / generate_s : std::numeric_limits<double>::infinity();
    const double prompts =
        prefill_s > 0 ? prefill_servers / prefill_s : std::numeric_limits<double>::infinity();
    return std::min(decoding, prompts);
}

Balance balance_of(const ServingSpec& spec, const ServingTimes& times) {
    const std::vector<Request> requests = draw_requests(spec.load);
    const StepCost prefill(spec, times.prefill != nullptr ? *times.prefill : *times.steps,
                           times.draft);
    const StepCost generate(spec, *times.steps, times.draft);
    double decodes = 0;
    double contexts = 0;
    double pages = 0;
    for (const Request& request : requests) {
        // Step i of 1 .. output - 1 finds prompt + i - 1 tokens in the cache.
        const auto steps = static_cast<double>(request.output - 1);
        decodes += steps;
        contexts += steps * (static_cast<double>(request.prompt) + (steps - 1) / 2);
        pages += steps > 0 ? steps * decoding_pages(spec, request) : 0;
    }
    Balance balance;
    balance.prefill_s = mean_prefill(spec, prefill, requests);
    if (decodes == 0) {
        return balance;
    }
    balance.context = contexts / decodes;
    balance.sequences = sequences_at_once(spec, pages / decodes);
    const auto full_batch = static_cast<double>(balance.sequences);
    const StepShape step = as_compiled(
        {.decoding = balance.sequences,
         .decode_cached = static_cast<std::int64_t>(std::round(balance.context * full_batch)),
         .decode_tokens = 1 + spec.speculation.tokens},
        spec);
    balance.generate_s = decodes / static_cast<double>(requests.size()) /
                         tokens_a_step(spec.speculation) * generate.of(step, true).seconds() /
                         full_batch;
    balance.ratio = balance.generate_s > 0 ? balance.prefill_s / balance.generate_s : 0;
    return balance;
}

}  // namespace podsim::scenarios
