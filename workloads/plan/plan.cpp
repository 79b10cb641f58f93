#include "workloads/plan/plan.h"

#include <algorithm>

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

/// The limit of a scenario (validate_plan.h).
constexpr std::int64_t kMostMicrobatches = 4096;

std::vector<int> further_microbatches(const Batch& batch, const Ways& ways) {
    const std::int64_t sequences = occupancy(batch, ways).sequences_per_shard;
    std::vector<int> all;
    std::int64_t least = 2;
    const std::int64_t most =
        std::min<std::int64_t>(sequences, kMostMicrobatches / batch.microbatches);
    for (std::int64_t parts = 2; parts <= most; ++parts) {
        if (parts >= least && sequences % parts == 0) {
            all.push_back(static_cast<int>(batch.microbatches * parts));
            least = 2 * parts;
        }
    }
    return all;
}

bool ExpertLoad::uneven() const {
    return std::ranges::any_of(loads, [](double load) { return load != 1; });
}

}  // namespace podsim::workloads
