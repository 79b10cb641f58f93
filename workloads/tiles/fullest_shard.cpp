#include "workloads/tiles/fullest_shard.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace podsim::workloads {
namespace {

/// Of what does not go round.
struct Left {
    double weight = 0;
    double measure = 0;
    std::vector<std::size_t> kinds;
};

}  // namespace

std::vector<std::int64_t> of_fullest_shard(std::span<const Items> kinds, std::int64_t shards) {
    std::vector<std::int64_t> counts;
    std::vector<std::size_t> left;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        counts.push_back(kinds[kind].count / shards);
        left.insert(left.end(), static_cast<std::size_t>(kinds[kind].count % shards), kind);
    }
    std::ranges::stable_sort(
        left, [&](std::size_t a, std::size_t b) { return kinds[a].weight > kinds[b].weight; });
    // No more shards than there are items differ.
    std::vector<Left> of_shards(
        std::min(static_cast<std::size_t>(shards), std::max<std::size_t>(left.size(), 1)));
    for (const std::size_t kind : left) {
        Left& least = *std::ranges::min_element(of_shards, {}, &Left::weight);
        least.weight += kinds[kind].weight;
        least.measure += kinds[kind].measure;
        least.kinds.push_back(kind);
    }
    const Left& fullest = *std::ranges::max_element(
        of_shards, {}, [](const Left& one) { return std::pair(one.measure, one.weight); });
    for (const std::size_t kind : fullest.kinds) {
        ++counts[kind];
    }
    return counts;
}

}  // namespace podsim::workloads
