// Step times that a test can add up: linear in the step's content, in whole microseconds.
#pragma once

#include "scenarios/src/serve/serving_loop.h"

namespace podsim::scenarios::by_hand {

constexpr sim::Time us(std::int64_t count) {
    return {count * 1000000};
}

/// Cost of a step + per decoding sequence or padding row + per cached token of these + per prompt
/// token + per cached token of prompts.
struct LinearStepTimes final : StepTimes {
    std::int64_t step = 0;
    std::int64_t sequence = 0;
    std::int64_t cached = 0;
    std::int64_t prompt = 0;
    std::int64_t prompt_cached = 0;
    std::vector<StepShape> asked;

    sim::Time time_of(const StepShape& shape) override {
        asked.push_back(shape);
        std::int64_t behind = 0;
        for (const PromptPart& part : shape.prompts) {
            behind += part.cached;
        }
        return us(step + sequence * (shape.decoding + shape.padding) +
                  cached * shape.decode_cached + prompt * shape.prompt_tokens() +
                  prompt_cached * behind);
    }
};

/// Requests with given arrival times, on one server.
inline ServingSpec trace_spec(std::vector<Request> requests) {
    ServingSpec spec;
    spec.load.arrivals = ArrivalKind::trace;
    spec.load.requests = static_cast<std::int64_t>(requests.size());
    spec.load.trace = std::move(requests);
    return spec;
}

inline Request request(sim::Time arrival, std::int64_t prompt, std::int64_t output) {
    Request made;
    made.arrival = arrival;
    made.prompt = prompt;
    made.output = output;
    return made;
}

inline ServingResult serve(const ServingSpec& spec, StepTimes& times) {
    return scenarios::serve(spec, {.steps = &times});
}

}  // namespace podsim::scenarios::by_hand
