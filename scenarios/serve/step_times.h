// What a step of a server costs, by what is in it: the face that the serving loop sees of simulated inference steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// The work of one step. Caches count what they hold before the step: a decoding sequence attends to those tokens and to
/// its new ones, a prefilling one to those and, causally, to its new ones.
struct StepShape {
    std::int64_t decoding = 0;       ///< sequences that decode
    std::int64_t decode_cached = 0;  ///< tokens in their caches, summed
    std::int64_t decode_tokens =
        1;                        ///< new tokens of each: 1, more where drafted ones are verified
    std::int64_t padding = 0;     ///< rows beside theirs, of a step compiled for more sequences
    std::int64_t prefilling = 0;  ///< sequences of the prefill part
    std::int64_t prefill_tokens = 0;  ///< their new tokens, summed
    std::int64_t prefill_cached = 0;  ///< tokens in their caches, summed
    std::int64_t finishing =
        0;  ///< of them those whose prompt ends: each needs the logits of one token

    friend bool operator==(const StepShape&, const StepShape&) = default;
};

struct StepShapeHash {
    std::size_t operator()(const StepShape& shape) const;
};

class StepTimes {
public:
    StepTimes() = default;
    StepTimes(const StepTimes&) = delete;
    StepTimes& operator=(const StepTimes&) = delete;
    virtual ~StepTimes() = default;
    /// The time of a step on the device, without the host's time between steps. Not negative.
    virtual sim::Time time_of(const StepShape& shape) = 0;
};

/// Each shape asked of the exact source once (`grid: exact`).
class MemoisedStepTimes final : public StepTimes {
public:
    /// `exact` must outlive this.
    explicit MemoisedStepTimes(StepTimes& exact) : exact_(exact) {}

    sim::Time time_of(const StepShape& shape) override;
    /// How many shapes the exact source was asked for.
    [[nodiscard]] std::size_t asked() const { return times_.size(); }

private:
    StepTimes& exact_;
    std::unordered_map<StepShape, sim::Time, StepShapeHash> times_;
};

}  // namespace podsim::scenarios
