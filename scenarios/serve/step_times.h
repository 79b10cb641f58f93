// What a step of a server costs, by what is in it: the face that the serving loop sees of simulated inference steps.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// What a step computes of one prompt: attention costs a token as much as there is before it, so that parts do not add up.
struct PromptPart {
    std::int64_t tokens = 0;  ///< new ones
    std::int64_t cached = 0;  ///< before them
    bool ends = false;        ///< the prompt: the logits of its last token are made
    friend auto operator<=>(const PromptPart&, const PromptPart&) = default;
};

/// The work of one step. Caches count what they hold before the step: a decoding sequence attends to those tokens and to
/// its new ones, a prompt to those and, causally, to its new ones.
struct StepShape {
    std::int64_t decoding = 0;       ///< sequences that decode
    std::int64_t decode_cached = 0;  ///< tokens in their caches, summed
    /// Of them, where windows of a model are full in some and not in others, those of full windows.
    std::int64_t full = 0;
    std::int64_t full_cached = 0;
    std::int64_t decode_tokens =
        1;                     ///< new tokens of each: 1, more where drafted ones are verified
    std::int64_t padding = 0;  ///< rows beside theirs, of a step compiled for more sequences
    std::vector<PromptPart> prompts{};  ///< in order

    /// Of all prompts.
    [[nodiscard]] std::int64_t prompt_tokens() const;
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
