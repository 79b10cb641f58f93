// The cost of a server's step by its content: the interface between the serving loop and simulated
// inference steps.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// The work of a step on one prompt. Attention costs a token in proportion to the tokens before it,
/// so the costs of parts do not add up.
struct PromptPart {
    std::int64_t tokens = 0;  ///< new tokens
    std::int64_t cached = 0;  ///< tokens before them
    /// True if the prompt ends: the step makes the logits of its last token.
    bool ends = false;
    friend auto operator<=>(const PromptPart&, const PromptPart&) = default;
};

/// The work of one step. Caches have their size before the step. A decoding sequence attends to its
/// cache and its new tokens; a prompt to its cache and, causally, to its new tokens.
struct StepShape {
    std::int64_t decoding = 0;       ///< sequences that decode
    std::int64_t decode_cached = 0;  ///< tokens in their caches, summed
    /// Decodes with full windows, if the windows of a model are full in some but not in all.
    std::int64_t full = 0;
    std::int64_t full_cached = 0;
    /// New tokens of each: 1, or more if drafted ones are verified.
    std::int64_t decode_tokens = 1;
    /// Further rows of a step that is compiled for more sequences.
    std::int64_t padding = 0;
    std::vector<PromptPart> prompts{};  ///< in order

    /// Returns the new tokens of all prompts.
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
    /// Returns the time of a step on the device, without the host's time between steps. Not
    /// negative.
    virtual sim::Time time_of(const StepShape& shape) = 0;
};

/// Asks the exact source once for each shape (`grid: exact`).
class MemoisedStepTimes final : public StepTimes {
public:
    /// `exact` must outlive this.
    explicit MemoisedStepTimes(StepTimes& exact) : exact_(exact) {}

    sim::Time time_of(const StepShape& shape) override;
    /// Number of shapes requested from the exact source.
    [[nodiscard]] std::size_t asked() const { return times_.size(); }

private:
    StepTimes& exact_;
    std::unordered_map<StepShape, sim::Time, StepShapeHash> times_;
};

}  // namespace podsim::scenarios
