// Decides if a step has a time between two tokens of a sequence.
#pragma once

#include <optional>

#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// True for a generation of several tokens, or a step whose first run decodes. A prefill has no
/// such time, nor has a training step.
inline bool has_token_time(const std::optional<workloads::Inference>& inference) {
    if (!inference || inference->generate > 0) {
        return inference && inference->generate > 1;
    }
    const workloads::CachedRun& run = inference->runs.front();
    return run.logits == run.fresh;
}

}  // namespace podsim::scenarios
