// Whole items on the fullest of several shards.
#include <gtest/gtest.h>

#include "workloads/work/placed_runs.h"

namespace podsim::workloads {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(FullestShard, HasWholeItems) {
    EXPECT_EQ(of_fullest_shard(std::vector<Items>{{8, 1, 1}}, 4), (Counts{2}));
    EXPECT_EQ(of_fullest_shard(std::vector<Items>{{9, 1, 1}}, 4), (Counts{3}));
    EXPECT_EQ(of_fullest_shard(std::vector<Items>{{1, 1, 1}}, 4), (Counts{1}));
    EXPECT_EQ(of_fullest_shard(std::vector<Items>{{0, 1, 1}}, 4), (Counts{0}));
}

// A heavy and five light items lie on two shards: two light ones on each; then the heavy one goes
// first, and the fifth light one to the other shard.
TEST(FullestShard, HeavyOnesGoFirst) {
    const std::vector<Items> kinds{{5, 1, 1}, {1, 100, 100}};
    EXPECT_EQ(of_fullest_shard(kinds, 2), (Counts{2, 1}));
    EXPECT_EQ(of_fullest_shard(kinds, 4), (Counts{1, 1}));
    EXPECT_EQ(of_fullest_shard(kinds, 8), (Counts{0, 1}));
}

// By weight 5 lies alone, 3 and 3 on the other shard.
// The measure decides which of the two is the fullest.
TEST(FullestShard, IsTheOneOfTheLargestMeasure) {
    EXPECT_EQ(of_fullest_shard(std::vector<Items>{{1, 5, 1}, {1, 3, 10}, {1, 3, 10}}, 2),
              (Counts{0, 1, 1}));
    EXPECT_EQ(of_fullest_shard(std::vector<Items>{{1, 5, 5}, {1, 3, 1}, {1, 3, 1}}, 2),
              (Counts{1, 0, 0}));
}

}  // namespace
}  // namespace podsim::workloads
