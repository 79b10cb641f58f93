#include "scenarios/src/serve/step_times.h"

#include "sim/base/random.h"

namespace podsim::scenarios {

std::int64_t StepShape::prompt_tokens() const {
    std::int64_t sum = 0;
    for (const PromptPart& part : prompts) {
        sum += part.tokens;
    }
    return sum;
}

std::size_t StepShapeHash::operator()(const StepShape& shape) const {
    std::uint64_t mixed = 0;
    const auto mix = [&mixed](std::int64_t part) {
        mixed ^= static_cast<std::uint64_t>(part);
        mixed = sim::next_random(mixed);
    };
    for (const std::int64_t part : {shape.decoding, shape.decode_cached, shape.full,
                                    shape.full_cached, shape.decode_tokens, shape.padding}) {
        mix(part);
    }
    for (const PromptPart& part : shape.prompts) {
        mix(part.tokens);
        mix(part.cached);
        mix(part.ends ? 1 : 0);
    }
    return static_cast<std::size_t>(mixed);
}

sim::Time MemoisedStepTimes::time_of(const StepShape& shape) {
    const auto found = times_.find(shape);
    if (found != times_.end()) {
        return found->second;
    }
    return times_.emplace(shape, exact_.time_of(shape)).first->second;
}

}  // namespace podsim::scenarios
