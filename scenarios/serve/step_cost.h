// The time of a planned step: the host, the model's step, and that of the model that drafts.
#pragma once

#include "scenarios/serve/batching.h"
#include "scenarios/serve/step_times.h"

namespace podsim::scenarios {

/// Of how many sequences a decode step is compiled that decodes `decoding`.
std::int64_t padded(std::int64_t decoding, const BatchingSpec& batching);

/// What is in a step; those held of a static batch are rows like any other.
StepShape shape_of(const StepPlan& plan, const Batch& batch, const ServingSpec& spec);

/// The same step as compiled for as many sequences as there may be, and with whole buffers where every slot has one.
StepShape as_compiled(StepShape shape, const ServingSpec& spec);

class StepCost {
public:
    /// `draft` may be null: drafted tokens then cost nothing.
    StepCost(const ServingSpec& spec, StepTimes& times, StepTimes* draft)
        : spec_(spec), times_(times), draft_(draft) {}

    /// host + device, or the longer of the two where the host works beside the device (ServingSpec::host_beside) and could prepare the
    /// step `ahead`, while that worked on the one before. The device takes
    /// t(shape) + of the drafting model its prefill of the same prompts and, where sequences decode, k steps of a
    /// token each, whose caches grow by one from step to step.
    [[nodiscard]] sim::Time of(const StepShape& shape, bool ahead) const;

private:
    [[nodiscard]] sim::Time on_device(const StepShape& shape) const;

    const ServingSpec& spec_;
    StepTimes& times_;
    StepTimes* draft_;
};

}  // namespace podsim::scenarios
