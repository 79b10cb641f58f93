#include "scenarios/serve/step_cost.h"

#include <algorithm>
#include <bit>

namespace podsim::scenarios {

std::int64_t padded(std::int64_t decoding, const BatchingSpec& batching) {
    if (decoding == 0) {
        return 0;
    }
    switch (batching.padding) {
        case Padding::none:
            return decoding;
        case Padding::power_of_two:
            return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(decoding)));
        case Padding::slots:
            break;
    }
    return batching.slots;
}

StepShape shape_of(const StepPlan& plan, const Batch& batch, const ServingSpec& spec) {
    StepShape shape;
    for (const StepPart& part : plan.parts) {
        if (part.decode) {
            ++shape.decoding;
            shape.decode_cached += part.sequence->cached;
            shape.decode_tokens = batch.step_tokens();
            continue;
        }
        ++shape.prefilling;
        shape.prefill_tokens += part.tokens;
        shape.prefill_cached += part.sequence->cached;
        shape.finishing += part.tokens == part.sequence->todo() ? 1 : 0;
    }
    if (shape.decoding > 0) {
        for (const Sequence* const sequence : batch.held()) {
            ++shape.decoding;
            shape.decode_cached += sequence->cached;
        }
    }
    return as_compiled(shape, spec);
}

StepShape as_compiled(StepShape shape, const ServingSpec& spec) {
    const std::int64_t compiled = padded(shape.decoding, spec.batching);
    if (spec.cache.length > 0) {  // buffers of slots that nobody has are read as well
        shape.decoding = compiled;
        shape.decode_cached = compiled * (spec.cache.length - shape.decode_tokens);
    }
    shape.padding = (compiled - shape.decoding) * shape.decode_tokens;
    return shape;
}

sim::Time StepCost::of(const StepShape& shape, bool ahead) const {
    const sim::Time device = on_device(shape);
    return spec_.host_beside && ahead ? std::max(spec_.host, device) : spec_.host + device;
}

sim::Time StepCost::on_device(const StepShape& shape) const {
    sim::Time time = times_.time_of(shape);
    if (draft_ == nullptr || spec_.speculation.tokens == 0) {
        return time;
    }
    if (shape.prefilling > 0) {
        StepShape prompts = shape;
        prompts.decoding = 0;
        prompts.padding = 0;
        prompts.decode_cached = 0;
        prompts.decode_tokens = 1;
        time += draft_->time_of(prompts);
    }
    StepShape drafting{.decoding = shape.decoding, .decode_cached = shape.decode_cached};
    for (std::int64_t i = 0; shape.decoding > 0 && i < spec_.speculation.tokens; ++i) {
        time += draft_->time_of(drafting);
        drafting.decode_cached += drafting.decoding;
    }
    return time;
}

}  // namespace podsim::scenarios
