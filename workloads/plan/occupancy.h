// The batch of a step, and what sharding makes of it on one chip.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/plan/ways.h"

namespace podsim::workloads {

struct Batch {
    std::int64_t tokens = 0;    ///< of the global batch
    std::int64_t sequence = 0;  ///< tokens per sequence
    int microbatches = 1;       ///< parts, one after the other; gradients add up over them
    friend bool operator==(const Batch&, const Batch&) = default;
};

/// How well whole sequences fill the shards of the batch.
struct Occupancy {
    std::int64_t sequences = 0;            ///< of the global batch: tokens / sequence
    std::int64_t shards = 1;               ///< data x fsdp x expert x microbatches
    std::int64_t sequences_per_shard = 0;  ///< ceil(sequences / shards), of one microbatch
    double occupied = 1;                   ///< sequences / (sequences_per_shard x shards)
    double tokens_per_chip_group =
        0;  ///< t = sequences_per_shard x sequence / context: tokens of one tensor group
};
/// Larger numbers of microbatches into which a shard's sequences divide evenly, each at least twice the one before.
std::vector<int> further_microbatches(const Batch& batch, const Ways& ways);

Occupancy occupancy(const Batch& batch, const Ways& ways);

}  // namespace podsim::workloads
