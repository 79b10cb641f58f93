// What a serving run is, all defaults filled in.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "scenarios/requests/arrivals.h"
#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

enum class BatchingKind {
    fixed,  ///< `static`: a batch of what waits, at most `slots`, runs to the end of its longest
    continuous,  ///< a free slot takes the next request; its prefill is a step of its own
    chunked,     ///< at most `budget` tokens of prompts a step
};

/// Of how many sequences a compiled decode step is, where fewer decode.
enum class Padding { none, power_of_two, slots };

struct BatchingSpec {
    BatchingKind kind = BatchingKind::continuous;
    std::int64_t slots = 1;      ///< most sequences at once on a server
    std::int64_t budget = 2048;  ///< chunked: most new tokens a step
    /// chunked: decodes and a chunk in one step, decodes first (vLLM); otherwise steps of their own, prefill first (sglang).
    bool mixed = true;
    /// Prefill and decode apart: decode steps at least between two prefill steps while sequences decode.
    std::int64_t interleave = 0;
    Padding padding = Padding::none;
};

/// What a sequence keeps of t tokens, in tokens of all layers: t, and where local layers keep those of their window W alone
/// min(t, W) + beyond (t - W).
struct KeptTokens {
    std::int64_t window = 0;  ///< W, of the model's local layers; 0: it has none
    double beyond = 1;        ///< share of a token's bytes that the other layers have

    [[nodiscard]] double of(double tokens) const {
        const auto seen = static_cast<double>(window);
        return window == 0 || tokens <= seen ? tokens : seen + beyond * (tokens - seen);
    }
};

struct CacheSpec {
    std::optional<std::int64_t> pages;  ///< of a server; without: as many as are needed
    sim::SourceMark pages_at{};         ///< where a file says how many
    sim::SourceMark length_at{};        ///< where it says how long a slot's buffer is
    std::int64_t page = 16;             ///< tokens of a page, of all layers
    KeptTokens kept{};                  ///< a sequence takes pages for these
    /// Equal parts of a server's memory that hold different sequences (ways of the batch, and members of the axis `cache` that split
    /// it): a sequence lies in one of them. Pages are counted together, as if each part took what the others have too much of.
    std::int64_t parts = 1;
    double memory =
        1;  ///< share of a chip's memory for weights, steps and cache, where pages are not given
    /// Tokens of a slot's buffer that every decode step reads whole, whatever it holds (JetStream without ragged attention);
    /// 0: what is held alone.
    std::int64_t length = 0;
    /// Admission takes the pages of the whole answer, so that none is ever preempted; otherwise a sequence grows by a page
    /// when it needs one, and a full cache preempts.
    bool reserve = false;

    /// Whole pages of so many tokens of a sequence.
    [[nodiscard]] std::int64_t pages_for(std::int64_t tokens) const {
        return pages_for_mean(static_cast<double>(tokens));
    }
    [[nodiscard]] std::int64_t pages_for_mean(double tokens) const {
        return static_cast<std::int64_t>(std::ceil(kept.of(tokens) / static_cast<double>(page)));
    }
};

struct SpeculationSpec {
    std::int64_t tokens = 0;  ///< drafted each step; 0: none
    double acceptance =
        0;  ///< probability that a drafted token is accepted when those before it were
};

struct DisaggregationSpec {
    std::int64_t prefill_servers = 1;
    std::int64_t generate_servers = 1;
    /// Caches that wait at a prefill server for their way; with so many it waits before its next prompt.
    std::int64_t backlog = 4;
    sim::Bytes a_token;  ///< of the cache: bytes that go their way, a token
    KeptTokens kept{};   ///< what goes of a sequence
    sim::BytesPerSecond rate = sim::BytesPerSecond::infinity();
    sim::Time latency;

    /// Of the cache of so many tokens.
    [[nodiscard]] sim::Bytes bytes_of(std::int64_t tokens) const {
        return a_token * kept.of(static_cast<double>(tokens));
    }
};

struct Objective {
    std::optional<sim::Time> first_token;  ///< TTFT at most
    std::optional<sim::Time> a_token;      ///< TPOT at most
};

struct ServingSpec {
    LoadSpec load;
    BatchingSpec batching;
    CacheSpec cache;
    SpeculationSpec speculation;
    std::optional<DisaggregationSpec> disaggregation;
    Objective objective;
    sim::Time host;  ///< of the host before every step
    bool host_beside =
        false;  ///< while the device works on the step before: a step takes the longer of the two
    std::int64_t per_octave =
        4;  ///< points of the grid of step times in a factor of two; 0: exact, no grid
};

/// The most tokens of a cache that a sequence ever needs: prompt, output but for its last token, and drafted ones.
inline std::int64_t most_cached(std::int64_t prompt, std::int64_t output, std::int64_t drafted) {
    return prompt + (output > 1 ? output - 1 + drafted : 0);
}

}  // namespace podsim::scenarios
