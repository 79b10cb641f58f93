// The serving loop: events in the kernel's order, and servers that plan a step whenever they are
// idle.
//
// An instant is a sequence of rounds: all events of the round happen, then idle servers plan, in
// their order. Events that they cause at the same time belong to the next round. A step changes
// nothing before it ends. Then the tokens of its parts are in the cache, and a sequence without
// uncomputed tokens has a new one. The prefill's token is the first of the answer, so an answer of
// n tokens takes its prefill and n - 1 decode steps.
#pragma once

#include <cstdint>
#include <string>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/serving_spec.h"
#include "scenarios/src/serve/serving_result.h"
#include "scenarios/src/serve/step_times.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

class TransferTimes {
public:
    TransferTimes() = default;
    TransferTimes(const TransferTimes&) = delete;
    TransferTimes& operator=(const TransferTimes&) = delete;
    virtual ~TransferTimes() = default;
    /// Returns the time for a cache of that many tokens. Not negative.
    [[nodiscard]] virtual sim::Time time_of(std::int64_t tokens) const = 0;
};

/// Transfer time by size: bytes of the cache / rate + latency.
class RateTransferTimes final : public TransferTimes {
public:
    explicit RateTransferTimes(const DisaggregationSpec& apart) : apart_(apart) {}

    [[nodiscard]] sim::Time time_of(std::int64_t tokens) const override {
        return sim::round_up(apart_.bytes_of(tokens) / apart_.rate) + apart_.latency;
    }

private:
    DisaggregationSpec apart_;
};

/// Costs of steps and transfers. `steps` is for servers that decode. Members that are null are not
/// used; `prefill` is then `steps`.
struct ServingTimes {
    StepTimes* steps = nullptr;
    StepTimes* prefill = nullptr;             ///< for disaggregated prefill servers
    StepTimes* draft = nullptr;               ///< for the drafting model
    const TransferTimes* transfer = nullptr;  ///< null: by the spec's rate and latency
};

/// Serves all requests of the spec. Throws sim::InputError if one request alone exceeds a server's
/// cache, sim::TimeOverflow beyond the clock's range, Stopped if the watch ends it, and
/// std::logic_error for a violation of the invariants in audit.h.
ServingResult serve(const ServingSpec& spec, const ServingTimes& times, Watch* watch = nullptr);

}  // namespace podsim::scenarios
