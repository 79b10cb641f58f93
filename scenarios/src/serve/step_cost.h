// The time of a planned step: the host, the model's step, and that of the drafting model.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scenarios/src/serve/batch.h"
#include "scenarios/src/serve/step_times.h"

namespace podsim::scenarios {

struct StepPart {
    Sequence* sequence = nullptr;
    std::int64_t tokens = 0;  ///< new in its cache; for a decode the maximum, with drafted ones
    bool decode = false;
};

/// A step; without parts the server is idle.
struct StepPlan {
    std::vector<StepPart> parts;
};

class Batching {
public:
    Batching() = default;
    Batching(const Batching&) = delete;
    Batching& operator=(const Batching&) = delete;
    virtual ~Batching() = default;
    /// Plans the next step: admits, grows and preempts sequences of the batch.
    virtual StepPlan plan(Batch& batch) = 0;
    /// True if finished sequences keep their slots until their whole batch is finished.
    [[nodiscard]] virtual bool holds_finished() const { return false; }
};

/// Returns the policy of a server that computes prompts and answers.
std::unique_ptr<Batching> make_batching(const ServingSpec& spec);
/// Returns the policy of a generate server, which receives computed caches.
std::unique_ptr<Batching> make_generate_batching();

/// Returns the shape of a plan; held sequences of a static batch are rows like any other.
StepShape shape_of(const StepPlan& plan, const Batch& batch, const ServingSpec& spec);

/// Returns the same step as compiled, for a fixed number of sequences and, if every slot has a
/// buffer, with whole buffers.
StepShape as_compiled(StepShape shape, const ServingSpec& spec);

class StepCost {
public:
    /// `draft` may be null: drafted tokens are then free.
    StepCost(const ServingSpec& spec, StepTimes& times, StepTimes* draft)
        : spec_(spec), times_(times), draft_(draft) {}

    /// Returns host + device. It is the longer of the two if the host works beside the device
    /// (ServingSpec::host_beside) and could prepare the step `ahead`, during the one before. The
    /// device takes t(shape) and the time of the drafting model: its prefill of the same prompts
    /// and, if sequences decode, k steps of a token each, with caches that grow by one from step to
    /// step.
    [[nodiscard]] sim::Time of(const StepShape& shape, bool ahead) const;

private:
    [[nodiscard]] sim::Time on_device(const StepShape& shape) const;

    const ServingSpec& spec_;
    StepTimes& times_;
    StepTimes* draft_;
};

}  // namespace podsim::scenarios
