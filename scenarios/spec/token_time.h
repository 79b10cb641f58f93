// Whether a step has a time between two tokens of a sequence.
#pragma once

#include <optional>

#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// A generation of several tokens, or a step that decodes first of all; a prefill has none, nor a training step.
inline bool has_token_time(const std::optional<workloads::Inference>& inference) {
    if (!inference || inference->generate > 0) {
        return inference && inference->generate > 1;
    }
    const workloads::CachedRun& run = inference->runs.front();
    return run.logits == run.fresh;
}

}  // namespace podsim::scenarios
