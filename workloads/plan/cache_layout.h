// The members that hold keys and values of a cache shared by tensor ranks, and those that attend to
// them.
//
// There are Y ranks of tensor (and tensor_transpose) and Z of cache, T = Y Z. Query heads lie in
// order on (y, z), N / T on each. A head's keys and values lie on the ranks y whose heads use them:
// K / Y of them or, if Y > K, one that Y / K ranks repeat. Within the Z members of a y
//   split over the batch      sequence i lies on member i mod Z
//   split over the sequence   token p of every sequence lies on member p mod Z (as vLLM's decode
//                             context parallelism interleaves them), so that members share windows
//                             equally, too
// Attention of a y's query heads runs at the keys: on all of its Z members, each for its sequences
// or its tokens.
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

    /// Returns the query heads whose projections member z of a y computes; the next function, those
    /// whose attention all members of y compute together.
    [[nodiscard]] HeadRange own_queries(std::int64_t y, std::int64_t z) const;
    [[nodiscard]] HeadRange attended_queries(std::int64_t y) const;
    /// Returns the heads of keys and values that members of y keep.
    [[nodiscard]] HeadRange held_heads(std::int64_t y) const;
    /// True if member z of a y keeps that token of that sequence.
    [[nodiscard]] bool holds(std::int64_t z, std::int64_t sequence, std::int64_t token) const;

    /// Returns how many of `count` sequences, or tokens of one, the fullest member keeps.
    [[nodiscard]] std::int64_t share(std::int64_t count) const {
        return (count + members - 1) / members;
    }
    /// Returns the heads of keys and values of the fullest y.
    [[nodiscard]] std::int64_t most_heads() const;
};

}  // namespace podsim::workloads
