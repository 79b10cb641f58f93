// What a serving run is, all defaults filled in.
#pragma once

#include <cstdint>
#include <optional>

#include "scenarios/requests/arrivals.h"
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

struct CacheSpec {
    std::optional<std::int64_t> pages;  ///< of a server; without: as many as are needed
    std::int64_t page = 16;             ///< tokens of a page
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
    sim::BytesPerSecond rate = sim::BytesPerSecond::infinity();
    sim::Time latency;
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
    std::int64_t window = 0;  ///< of the model's local layers; 0: it has none
    std::int64_t per_octave =
        4;  ///< points of the grid of step times in a factor of two; 0: exact, no grid
};

/// The most tokens of a cache that a sequence ever needs: prompt, output but for its last token, and drafted ones.
inline std::int64_t most_cached(std::int64_t prompt, std::int64_t output, std::int64_t drafted) {
    return prompt + (output > 1 ? output - 1 + drafted : 0);
}

}  // namespace podsim::scenarios
