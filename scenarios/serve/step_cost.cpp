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

namespace {

/// Adds a sequence that decodes behind its cache.
void add_decode(StepShape& shape, std::int64_t cached, std::int64_t window) {
    ++shape.decoding;
    shape.decode_cached += cached;
    if (window > 0 && cached + 1 >= window) {
        ++shape.full;
        shape.full_cached += cached;
    }
}

}  // namespace

StepShape shape_of(const StepPlan& plan, const Batch& batch, const ServingSpec& spec) {
    StepShape shape;
    for (const StepPart& part : plan.parts) {
        if (part.decode) {
            add_decode(shape, part.sequence->cached, spec.cache.kept.window);
            shape.decode_tokens = batch.step_tokens();
            continue;
        }
        shape.prompts.push_back(
            {part.tokens, part.sequence->cached, part.tokens == part.sequence->todo()});
    }
    std::ranges::sort(shape.prompts);
    if (shape.decoding > 0) {
        for (const Sequence* const sequence : batch.held()) {
            add_decode(shape, sequence->cached, spec.cache.kept.window);
        }
    }
    return as_compiled(shape, spec);
}

StepShape as_compiled(StepShape shape, const ServingSpec& spec) {
    const std::int64_t compiled = padded(shape.decoding, spec.batching);
    if (spec.cache.length > 0) {  // buffers of slots that nobody has are read as well
        shape.decoding = compiled;
        shape.decode_cached = compiled * (spec.cache.length - shape.decode_tokens);
        shape.full = 0;
    }
    if (shape.full == 0 || shape.full == shape.decoding) {  // all are alike
        shape.full = 0;
        shape.full_cached = 0;
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
    if (!shape.prompts.empty()) {
        time += draft_->time_of({.prompts = shape.prompts});
    }
    StepShape drafting{.decoding = shape.decoding,
                       .decode_cached = shape.decode_cached,
                       .full = shape.full,
                       .full_cached = shape.full_cached};
    for (std::int64_t i = 0; shape.decoding > 0 && i < spec_.speculation.tokens; ++i) {
        time += draft_->time_of(drafting);
        drafting.decode_cached += drafting.decoding;
        drafting.full_cached += drafting.full;
    }
    return time;
}

}  // namespace podsim::scenarios
