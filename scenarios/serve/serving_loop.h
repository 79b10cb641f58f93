// The serving loop: events in the kernel's order, servers that plan a step whenever they are idle.
//
// An instant is a sequence of rounds: all events of the round happen, then idle servers plan, in their order; what that
// causes at the same time belongs to the next round. A step changes nothing before it ends; then each part's tokens are
// in the cache, and a sequence of which all known tokens are has a new one. The prefill's token is the first of the
// answer, so that an answer of n tokens takes its prefill and n - 1 decode steps.
#pragma once

#include <string>

#include "scenarios/serve/serving_result.h"
#include "scenarios/serve/serving_spec.h"
#include "scenarios/serve/step_times.h"
#include "scenarios/serve/transfer_times.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

/// What steps and transfers cost. `steps` is of the servers that decode; what is null is not used, `prefill` then is `steps`.
struct ServingTimes {
    StepTimes* steps = nullptr;
    StepTimes* prefill = nullptr;             ///< of disaggregated prefill servers
    StepTimes* draft = nullptr;               ///< of the model that drafts
    const TransferTimes* transfer = nullptr;  ///< null: that of the spec's rate and latency
};

/// Serves all requests of the spec. Throws sim::InputError where one of them alone is larger than a server's cache,
/// sim::TimeOverflow beyond the clock's range, Stopped where the watch ends it, std::logic_error for a breach of what audit.h holds.
ServingResult serve(const ServingSpec& spec, const ServingTimes& times, Watch* watch = nullptr);

}  // namespace podsim::scenarios
