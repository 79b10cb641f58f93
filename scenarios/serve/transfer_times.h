// How long a sequence's cache takes from a prefill server to a generate server.
#pragma once

#include <cstdint>

#include "scenarios/serve/serving_spec.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

class TransferTimes {
public:
    TransferTimes() = default;
    TransferTimes(const TransferTimes&) = delete;
    TransferTimes& operator=(const TransferTimes&) = delete;
    virtual ~TransferTimes() = default;
    /// Of the cache of so many tokens. Not negative.
    [[nodiscard]] virtual sim::Time time_of(std::int64_t tokens) const = 0;
};

/// Bytes of the cache of so many tokens / rate + latency.
class RateTransferTimes final : public TransferTimes {
public:
    explicit RateTransferTimes(const DisaggregationSpec& apart) : apart_(apart) {}

    [[nodiscard]] sim::Time time_of(std::int64_t tokens) const override {
        return sim::round_up(apart_.bytes_of(tokens) / apart_.rate) + apart_.latency;
    }

private:
    DisaggregationSpec apart_;
};

}  // namespace podsim::scenarios
