#include "workloads/plan/cache_layout.h"

#include <algorithm>

namespace podsim::workloads {

HeadRange CacheLayout::own_queries(std::int64_t y, std::int64_t z) const {
    const std::int64_t each = heads / (tensor * members);
    const std::int64_t way = y * members + z;
    return {way * each, (way + 1) * each};
}

HeadRange CacheLayout::attended_queries(std::int64_t y) const {
    return {own_queries(y, 0).first, own_queries(y, members - 1).end};
}

HeadRange CacheLayout::held_heads(std::int64_t y) const {
    const std::int64_t group = heads / kv_heads;
    const HeadRange queries = attended_queries(y);
    return {queries.first / group, (queries.end + group - 1) / group};
}

bool CacheLayout::holds(std::int64_t z, std::int64_t sequence, std::int64_t token) const {
    return (split == CacheSplit::batch ? sequence : token) % members == z;
}

std::int64_t CacheLayout::most_heads() const {
    std::int64_t most = 0;
    for (std::int64_t y = 0; y < tensor; ++y) {
        most = std::max(most, held_heads(y).size());
    }
    return most;
}

}  // namespace podsim::workloads
