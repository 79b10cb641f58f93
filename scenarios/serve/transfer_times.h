// How long a sequence's cache takes from a prefill server to a generate server.
#pragma once

#include <cstdint>

#include "sim/base/quantity.h"
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

/// tokens x bytes a token / rate + latency.
class RateTransferTimes final : public TransferTimes {
public:
    RateTransferTimes(sim::Bytes a_token, sim::BytesPerSecond rate, sim::Time latency)
        : a_token_(a_token), rate_(rate), latency_(latency) {}

    [[nodiscard]] sim::Time time_of(std::int64_t tokens) const override {
        return sim::round_up(a_token_ * static_cast<double>(tokens) / rate_) + latency_;
    }

private:
    sim::Bytes a_token_;
    sim::BytesPerSecond rate_;
    sim::Time latency_;
};

}  // namespace podsim::scenarios
