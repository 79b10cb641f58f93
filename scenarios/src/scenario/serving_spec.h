// The specification of a serving run, with all defaults filled in.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "scenarios/src/scenario/arrivals.h"
#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

enum class BatchingKind {
    /// `static`: a batch of waiting requests, at most `slots`, runs to the end of its longest.
    fixed,
    /// A free slot takes the next request, whose prefill is a step of its own.
    continuous,
    chunked,  ///< at most `budget` tokens of prompts per step
};

/// Number of sequences of a compiled decode step, if fewer decode.
enum class Padding { none, power_of_two, slots };

struct BatchingSpec {
    BatchingKind kind = BatchingKind::continuous;
    std::int64_t slots = 1;      ///< most concurrent sequences on a server
    std::int64_t budget = 2048;  ///< chunked: most new tokens per step
    /// chunked: decodes and a chunk share one step, decodes first (vLLM). Otherwise they are steps
    /// of their own, prefill first (sglang).
    bool mixed = true;
    /// For separate prefill and decode: the least number of decode steps between two prefill steps
    /// while sequences decode.
    std::int64_t interleave = 0;
    Padding padding = Padding::none;
};

/// The tokens that a sequence keeps of t, in tokens of all layers: t, or, if local layers keep only
/// those of their window W, min(t, W) + beyond (t - W).
struct KeptTokens {
    /// W, of the model's local layers; 0: it has none
    std::int64_t window = 0;
    /// Fraction of a token's bytes in the other layers.
    double beyond = 1;

    [[nodiscard]] double of(double tokens) const {
        const auto seen = static_cast<double>(window);
        return window == 0 || tokens <= seen ? tokens : seen + beyond * (tokens - seen);
    }
};

struct CacheSpec {
    /// Pages of a server; without a value, as many as are needed.
    std::optional<std::int64_t> pages;
    sim::SourceMark pages_at{};  ///< position of `pages` in a file
    /// Position of a slot's buffer length in a file.
    sim::SourceMark length_at{};
    std::int64_t page = 16;  ///< tokens of a page, of all layers
    KeptTokens kept{};       ///< a sequence takes pages for these
    /// Number of equal segments of a server's memory that hold different sequences (ways of the
    /// batch, and members of the axis `cache` that split it). A sequence lies in one of them. Pages
    /// are counted together, as if each segment took the excess of the others.
    std::int64_t parts = 1;
    /// Fraction of a chip's memory for weights, steps and cache, if pages are not given.
    double memory = 1;
    /// Tokens of a slot's buffer, which every decode step reads whole, whatever it holds (JetStream
    /// without ragged attention). 0: only held tokens are read.
    std::int64_t length = 0;
    /// Admission takes the pages of the whole answer, so that no sequence is ever preempted.
    /// Otherwise a sequence grows by a page when it needs one, and a full cache preempts.
    bool reserve = false;

    /// Returns the whole pages of `tokens` tokens of a sequence.
    [[nodiscard]] std::int64_t pages_for(std::int64_t tokens) const {
        return pages_for_mean(static_cast<double>(tokens));
    }
    [[nodiscard]] std::int64_t pages_for_mean(double tokens) const {
        return static_cast<std::int64_t>(std::ceil(kept.of(tokens) / static_cast<double>(page)));
    }
};

struct SpeculationSpec {
    std::int64_t tokens = 0;  ///< drafted each step; 0: none
    /// Probability that a drafted token is accepted if those before it were.
    double acceptance = 0;
};

struct DisaggregationSpec {
    std::int64_t prefill_servers = 1;
    std::int64_t generate_servers = 1;
    /// Caches that wait at a prefill server for their transfer; at this number it waits before its
    /// next prompt.
    std::int64_t backlog = 4;
    sim::Bytes a_token;  ///< bytes of the cache to transfer, per token
    KeptTokens kept{};   ///< tokens of a sequence to transfer
    sim::BytesPerSecond rate = sim::BytesPerSecond::infinity();
    sim::Time latency;

    /// Returns the bytes of the cache of `tokens` tokens.
    [[nodiscard]] sim::Bytes bytes_of(std::int64_t tokens) const {
        return a_token * kept.of(static_cast<double>(tokens));
    }
};

struct Objective {
    std::optional<sim::Time> first_token;  ///< upper limit of TTFT
    std::optional<sim::Time> a_token;      ///< upper limit of TPOT
};

struct ServingSpec {
    LoadSpec load;
    BatchingSpec batching;
    CacheSpec cache;
    SpeculationSpec speculation;
    std::optional<DisaggregationSpec> disaggregation;
    Objective objective;
    sim::Time host;  ///< time of the host before every step
    /// True if the host works while the device runs the previous step: a step takes the longer of
    /// the two.
    bool host_beside = false;
    /// Points of the grid of step times within a factor of two; 0: exact, no grid.
    std::int64_t per_octave = 4;
};

/// Returns the most tokens of a cache that a sequence ever needs: the prompt, the output except its
/// last token, and drafted ones.
inline std::int64_t most_cached(std::int64_t prompt, std::int64_t output, std::int64_t drafted) {
    return prompt + (output > 1 ? output - 1 + drafted : 0);
}

}  // namespace podsim::scenarios
