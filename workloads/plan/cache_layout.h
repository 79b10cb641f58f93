// Who holds which keys and values of a cache that tensor ways share, and who attends to them.
//
// Y ways of tensor (and tensor_transpose), Z of cache, T = Y Z. Query heads lie in order on (y, z), N / T on each; a head's keys and
// values on the ways y whose heads use them, K / Y of them or, where Y > K, one that Y / K ways repeat. Within the Z ways of a y
//   split over the batch      sequence i lies on member i mod Z
//   split over the sequence   token p of every sequence lies on member p mod Z (as vLLM's decode context parallelism
//                             interleaves them), so that windows, too, are shared equally
// Attention of a y's query heads is where the keys are: on all of its Z members, each for its sequences or its tokens.
#pragma once

#include <cstdint>

#include "workloads/plan/inference.h"

namespace podsim::workloads {

/// Heads from `first` to before `end`.
struct HeadRange {
    std::int64_t first = 0;
    std::int64_t end = 0;
    [[nodiscard]] std::int64_t size() const { return end - first; }
};

struct CacheLayout {
    std::int64_t heads = 1;     ///< N, as padded: T divides it
    std::int64_t kv_heads = 1;  ///< K, divides N
    std::int64_t tensor = 1;    ///< Y
    std::int64_t members = 1;   ///< Z
    CacheSplit split = CacheSplit::batch;

    /// Query heads whose projections a way computes, and those whose attention all members of y compute together.
    [[nodiscard]] HeadRange own_queries(std::int64_t y, std::int64_t z) const;
    [[nodiscard]] HeadRange attended_queries(std::int64_t y) const;
    /// Heads of keys and values that members of y keep.
    [[nodiscard]] HeadRange held_heads(std::int64_t y) const;
    /// Whether member z of a y keeps that token of that sequence.
    [[nodiscard]] bool holds(std::int64_t z, std::int64_t sequence, std::int64_t token) const;

    /// Of `count` sequences, or tokens of one, those that the fullest member keeps.
    [[nodiscard]] std::int64_t share(std::int64_t count) const {
        return (count + members - 1) / members;
    }
    /// Heads of keys and values of the fullest way.
    [[nodiscard]] std::int64_t most_heads() const;
};

}  // namespace podsim::workloads
