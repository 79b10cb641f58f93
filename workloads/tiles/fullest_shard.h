// What the fullest of several shards has of items that come whole: sequences of a step of inference.
//
// Of each kind of n alike items every one of S shards has n / S; of what is left the heaviest go first, each to the shard that has the
// least weight (of equals the first).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace podsim::workloads {

struct Items {
    std::int64_t count = 0;
    double weight = 0;   ///< of one, by which it is placed
    double measure = 0;  ///< of one, by which a shard is the fullest
};

/// How many of each kind the shard has whose measure is the largest (of equals the one of most weight).
std::vector<std::int64_t> of_fullest_shard(std::span<const Items> kinds, std::int64_t shards);

}  // namespace podsim::workloads
