// The table of logical axes: its rows prove each other and the values derived from them.
#include "workloads/plan/axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

using ::testing::ElementsAre;

/// Returns sizes 2, 3, 5, ... along the axes in the order of the table.
Ways prime_ways() {
    return {.data = 2,
            .fsdp = 3,
            .context = 5,
            .tensor = 7,
            .tensor_transpose = 11,
            .expert = 13,
            .pipeline = 17};
}

TEST(Axes, EveryRowHasAFieldAndANameOfItsOwn) {
    std::set<std::string_view> names;
    std::set<int> ways;
    const Ways primes = prime_ways();
    for (const PlanAxis& row : kPlanAxes) {
        SCOPED_TRACE(row.name);
        EXPECT_TRUE(names.insert(row.name).second);
        EXPECT_TRUE(ways.insert(primes.*row.ways).second);
        EXPECT_FALSE(row.meaning.empty());
        EXPECT_FALSE(row.example.empty());
        EXPECT_EQ(find_axis(row.name), &row);
        // An axis with priority for slices exchanges
        // little; one that splits matrices exchanges most.
        EXPECT_FALSE(row.turn_for_slices > 0 && !row.once_a_step);
        EXPECT_EQ(row.splits_matrices, row.turn_for_chips >= 1 && row.turn_for_chips <= 3);
        // An axis that shares an expert's weights shares all weights.
        EXPECT_TRUE(row.shares_weights || !row.shares_experts);
    }
    EXPECT_EQ(find_axis("x"), nullptr);
    EXPECT_EQ(primes.chips(), 2.0 * 3 * 5 * 7 * 11 * 13 * 17);
}

TEST(Axes, ProductsByProperty) {
    const Ways ways = prime_ways();
    EXPECT_EQ(ways_with(&PlanAxis::splits_batch, ways), 2 * 3 * 13);
    EXPECT_EQ(ways_with(&PlanAxis::splits_matrices, ways), 7 * 11);
    EXPECT_EQ(ways.of_matrix(), 7 * 11);
    EXPECT_EQ(ways_with(&PlanAxis::shares_weights, ways), 3 * 5 * 13);
    EXPECT_EQ(ways_with(&PlanAxis::shares_experts, ways), 3 * 5);
    EXPECT_EQ(ways_with(&PlanAxis::once_a_step, ways), 2 * 17);
}

TEST(Axes, NamesByPropertyLeaveOutThoseOfOneMember) {
    Ways ways = prime_ways();
    EXPECT_THAT(axes_with(&PlanAxis::splits_matrices, ways),
                ElementsAre("tensor", "tensor_transpose"));
    EXPECT_THAT(axes_with(&PlanAxis::shares_weights, ways),
                ElementsAre("fsdp", "context", "expert"));
    EXPECT_THAT(axes_with(&PlanAxis::shares_experts, ways), ElementsAre("fsdp", "context"));
    EXPECT_THAT(axes_with(&PlanAxis::once_a_step, ways), ElementsAre("data", "pipeline"));
    ways.context = 1;
    ways.expert = 2;
    EXPECT_THAT(axes_with(&PlanAxis::shares_weights, ways), ElementsAre("fsdp", "expert"));
}

TEST(Axes, SizesOfAMesh) {
    const topology::Lattice slice{{2, 3, 35}, {}, {}};
    const topology::DeviceMesh mesh(slice, {{"tensor", {{0, 1, 2}}},
                                            {"pipeline", {{1, 1, 3}}},
                                            {"data", {{2, 1, 5}}},
                                            {"context", {{2, 5, 7}}}});
    const Ways ways = ways_of(mesh);
    EXPECT_EQ(ways.tensor, 2);
    EXPECT_EQ(ways.pipeline, 3);
    EXPECT_EQ(ways.data, 5);
    EXPECT_EQ(ways.context, 7);
    EXPECT_EQ(ways.fsdp, 1);
    EXPECT_EQ(ways.chips(), 210);
}

TEST(Axes, TheOrderInWhichSizesArePlaced) {
    EXPECT_THAT(placing_order().chips,
                ElementsAre("tensor", "tensor_transpose", "cache", "context"));
    EXPECT_THAT(placing_order().slices, ElementsAre("data", "pipeline"));
}

// 100 sequences of 30 tokens lie on 2 x 3 x 13 shards: at most 2 each with 1 microbatch, 1 with 2.
TEST(Axes, TheBatchIsSharedOutOverTheAxesThatSplitIt) {
    const Occupancy one = occupancy({.tokens = 3000, .sequence = 30}, prime_ways());
    EXPECT_EQ(one.sequences, 100);
    EXPECT_EQ(one.shards, 78);
    EXPECT_EQ(one.sequences_per_shard, 2);
    EXPECT_EQ(one.occupied, 100.0 / 156);
    EXPECT_EQ(one.tokens_per_chip_group, 2 * 30 / 5.0);
    const Occupancy two =
        occupancy({.tokens = 3000, .sequence = 30, .microbatches = 2}, prime_ways());
    EXPECT_EQ(two.shards, 156);
    EXPECT_EQ(two.sequences_per_shard, 1);
    EXPECT_EQ(two.occupied, 100.0 / 156);
    EXPECT_EQ(two.tokens_per_chip_group, 6);
}

}  // namespace
}  // namespace podsim::workloads
