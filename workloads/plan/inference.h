// A step of inference: which sequences go through the model together, and what of them is in the cache already.
//
// Prefill of P tokens is a run of fresh = P, cached = 0; a decode step at a context of S tokens one of fresh = 1, cached = S;
// a chunk of a prompt, or the k + 1 tokens that speculative decoding verifies, lie between. Steps that mix them (chunked
// prefill beside decode) have several runs.
#pragma once

#include <cstdint>
#include <vector>

namespace podsim::workloads {

/// Sequences that do the same.
struct CachedRun {
    std::int64_t sequences = 0;
    std::int64_t fresh = 1;   ///< new tokens of each
    std::int64_t cached = 0;  ///< tokens before them, whose keys and values are in the cache
    std::int64_t logits = 1;  ///< logits are made of so many last tokens of each
    /// Rows that fill a compiled step up, which nobody's cache is behind: matmuls and logits take them, attention does not.
    bool padding = false;

    bool operator==(const CachedRun&) const = default;
};

/// What members of the axis `cache` have different parts of.
enum class CacheSplit {
    batch,    ///< sequences: queries and outputs change places by two AllToAlls a layer
    sequence  ///< tokens: queries are gathered, maxima and sums of partial outputs combined
};

struct Inference {
    std::vector<CachedRun> runs;
    double cache_element = 2;  ///< bytes of a stored key or value
    CacheSplit split = CacheSplit::batch;
    /// Tokens of a sequence that the cache has room for; 0: those that there are at the end of the step.
    std::int64_t reserved = 0;
    /// Behind the one run's prefill so many tokens of each sequence, the first of which the prefill makes; 0: a single step.
    std::int64_t generate = 0;
    /// Attention is one product over all sequences' buffers (JetStream, Saxml), not a kernel that goes from one sequence's pages
    /// to the next's.
    bool dense = false;
    /// The decode steps are a loop of one program: the host is asked once, behind the last (Saxml); otherwise behind every step.
    bool loop_on_device = false;
    /// The host prepares a step while the device works on the one before, so that no step waits for it.
    bool asynchronous = false;

    [[nodiscard]] std::int64_t sequences() const;
    [[nodiscard]] std::int64_t tokens() const;  ///< new ones
    [[nodiscard]] std::int64_t logits() const;  ///< rows of the unembedding
    /// What tokens a second count: those that are generated, where there are such (the prompt is not what is asked for); of a
    /// prefill those that it reads; of a decode step one a sequence, since how many drafted ones are accepted is not known.
    [[nodiscard]] std::int64_t counted_tokens() const;
    friend bool operator==(const Inference&, const Inference&) = default;
};

/// The steps that it is played as: one, or the prefill and generate - 1 decode steps behind it, whose context grows.
std::vector<Inference> steps_of(const Inference& inference);

}  // namespace podsim::workloads
