// A step of inference: the sequences that go through the model together, and their tokens in the
// cache.
//
// Prefill of P tokens is a run of fresh = P, cached = 0; a decode step at a context of S tokens is
// one of fresh = 1, cached = S. A chunk of a prompt, or the k + 1 tokens that speculative decoding
// verifies, lie between. Steps that mix them (chunked prefill beside decode) have several runs.
#pragma once

#include <cstdint>
#include <vector>

namespace podsim::workloads {

/// Sequences that do the same.
struct CachedRun {
    std::int64_t sequences = 0;
    std::int64_t fresh = 1;   ///< new tokens of each
    std::int64_t cached = 0;  ///< tokens before them, whose keys and values are in the cache
    std::int64_t logits = 1;  ///< last tokens of each that get logits
    /// Rows that fill up a compiled step, without a cache behind them: matmuls and logits take
    /// them, attention does not.
    bool padding = false;

    bool operator==(const CachedRun&) const = default;
};

/// The division of the cache among members of the axis `cache`.
enum class CacheSplit {
    /// By sequences: two AllToAlls a layer exchange queries and outputs.
    batch,
    /// By tokens: queries are gathered, maxima and sums of partial outputs combined.
    sequence
};

struct Inference {
    std::vector<CachedRun> runs;
    double cache_element = 2;  ///< bytes of a stored key or value
    CacheSplit split = CacheSplit::batch;
    /// Tokens of a sequence that the cache has room for; 0: as many as there are at the end of the
    /// step.
    std::int64_t reserved = 0;
    /// Tokens of each sequence that are generated after the one run's prefill, which makes the
    /// first; 0: a single step.
    std::int64_t generate = 0;
    /// Attention is one product over all sequences' buffers (JetStream, Saxml), not a kernel that
    /// goes from one sequence's pages to the next's.
    bool dense = false;
    /// The decode steps are a loop of one program: the host is asked once, after the last (Saxml);
    /// otherwise after every step.
    bool loop_on_device = false;
    /// The host prepares a step while the device works on the one before, so that no step waits for
    /// it.
    bool asynchronous = false;

    [[nodiscard]] std::int64_t sequences() const;
    [[nodiscard]] std::int64_t tokens() const;  ///< new ones
    [[nodiscard]] std::int64_t logits() const;  ///< rows of the unembedding
    /// Returns the tokens that the rate in tokens a second counts: the generated ones if there are
    /// any (the prompt is not the product). For a prefill these are the tokens that it reads; for a
    /// decode step one a sequence, since the number of accepted drafts is not known.
    [[nodiscard]] std::int64_t counted_tokens() const;
    friend bool operator==(const Inference&, const Inference&) = default;
};

/// Returns the simulated steps: one, or the prefill and the generate - 1 decode steps after it,
/// whose context grows.
std::vector<Inference> steps_of(const Inference& inference);

}  // namespace podsim::workloads
