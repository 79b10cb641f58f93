#include "workloads/plan/occupancy.h"

#include "workloads/plan/axes.h"

namespace podsim::workloads {

Occupancy occupancy(const Batch& batch, const Ways& ways) {
    const std::int64_t shards = ways_with(&PlanAxis::splits_batch, ways) * batch.microbatches;
    Occupancy result;
    result.shards = shards;
    result.sequences = batch.tokens / batch.sequence;
    result.sequences_per_shard = (result.sequences + shards - 1) / shards;
    result.occupied = static_cast<double>(result.sequences) /
                      static_cast<double>(result.sequences_per_shard * shards);
    result.tokens_per_chip_group =
        static_cast<double>(result.sequences_per_shard * batch.sequence) / ways.context;
    return result;
}

}  // namespace podsim::workloads
