// Experts that the tokens of a step reach, counted over all their choices; tiles of a serving
// engine's grouped matmul by hand.
#include "workloads/work/served_tiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/work/experts_work.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {
namespace {

constexpr double kMiB = 1 << 20;

/// Returns the mean number of the first `held` of `experts` that `tokens` reach, each with
/// `per_token` different ones, over all their choices.
double counted(int experts, int per_token, int tokens, unsigned held) {
    std::vector<unsigned> choices;
    for (unsigned choice = 0; choice < 1U << experts; ++choice) {
        if (std::popcount(choice) == per_token) {
            choices.push_back(choice);
        }
    }
    // Experts reached by the tokens so far, one entry for each combination of choices.
    std::vector<unsigned> taken = {0};
    for (int token = 0; token < tokens; ++token) {
        std::vector<unsigned> next;
        for (const unsigned before : taken) {
            for (const unsigned choice : choices) {
                next.push_back(before | choice);
            }
        }
        taken = next;
    }
    double sum = 0;
    for (const unsigned one : taken) {
        sum += std::popcount(one & ((1U << held) - 1));
    }
    return sum / static_cast<double>(taken.size());
}

TEST(ReachedGroups, IsTheMeanOverAllChoices) {
    for (int tokens = 0; tokens <= 4; ++tokens) {
        for (const int per_token : {1, 2, 3}) {
            for (const unsigned held : {1U, 2U, 4U}) {
                EXPECT_NEAR(reached_groups(tokens, per_token / 4.0, held),
                            counted(4, per_token, tokens, held), 1e-14)
                    << tokens << " tokens, " << per_token << " each, " << held << " held";
            }
        }
    }
}

TEST(ReachedGroups, OfFewAndOfManyTokens) {
    EXPECT_EQ(reached_groups(1, 2 / 8.0, 8), 2);  // k of E
    EXPECT_EQ(reached_groups(4, 2 / 8.0, 8), 8 * (1 - 0.75 * 0.75 * 0.75 * 0.75));
    EXPECT_EQ(reached_groups(1.5, 2 / 8.0, 8), 8 * (1 - 0.75 * (1 + 0.75) / 2));
    EXPECT_EQ(reached_groups(4096, 2 / 8.0, 8), 8);
    EXPECT_EQ(reached_groups(0, 2 / 8.0, 8), 0);
    EXPECT_EQ(reached_groups(3, 1.25, 8), 8);  // chance above 1, by imbalance
}

// Matrices of Mixtral, 4096 x 14336 in bf16, are 117.4 MB; three buffers in 0.9 x 128 MiB are 40.3
// MB each: 3 parts of 4778.7 columns, in whole lanes 38 x 128. In int8 two parts are 29.4 MB each.
TEST(ServedTile, FitsThreeTimesIntoVmem) {
    const ServedOperands bf16{2, 2, 128 * kMiB};
    EXPECT_EQ(served_tile(4096, 14336, bf16), (ExpertTile{128, 4096, 4864}));
    EXPECT_EQ(served_tile(14336, 4096, bf16), (ExpertTile{128, 14336, 1408}));
    EXPECT_EQ(served_tile(2048, 1408, bf16), (ExpertTile{128, 2048, 1408}));  // whole
    // Rows of 1 byte load twice as fast, and matrices of 1 byte twice as fast relative to them.
    EXPECT_EQ(served_tile(4096, 14336, {2, 1, 128 * kMiB}), (ExpertTile{64, 4096, 7168}));
    EXPECT_EQ(served_tile(4096, 14336, {1, 1, 128 * kMiB}), (ExpertTile{128, 4096, 7168}));
    EXPECT_EQ(served_tile(4096, 14336, {2, 0.5, 128 * kMiB}).m, 64);
    // With 4 MiB a tile has 1.26 MB; 256 columns are 2.1 MB, so that k is cut in two.
    EXPECT_EQ(served_tile(4096, 1024, {2, 2, 4 * kMiB}), (ExpertTile{128, 2048, 256}));
}

TEST(ServedTiles, BeginAnewWithEveryGroup) {
    const ExpertTile tile{128, 4096, 4864};
    // 64 rows for each of 8 experts take one tile each.
    const GroupedTiles few = served_tiles(512, 8, 4096, 14336, tile);
    EXPECT_EQ(few.visits, 8);
    EXPECT_EQ(few.computed_of_group, 128);
    EXPECT_EQ(few.computed_n, 3 * 4864);
    EXPECT_EQ(few.rows, 512 * 4096.0 * 3);
    EXPECT_EQ(few.matrices, 8 * 4096.0 * 14336);
    EXPECT_EQ(few.results, 512 * 14336.0);
    // 512 rows for each take 4 tiles and half a tile that the group's end leaves empty.
    EXPECT_EQ(served_tiles(4096, 8, 4096, 14336, tile).visits, 8 * 4.5);
    // If k is cut in two, matrices are loaded again at each visit.
    EXPECT_EQ(served_tiles(4096, 8, 4096, 14336, {128, 2048, 4864}).matrices, 36 * 4096.0 * 14336);
    // Two copies of one token take tiles of two rows.
    EXPECT_EQ(served_tiles(2, 2, 4096, 14336, tile).computed_of_group, 2);
    EXPECT_EQ(served_tiles(0, 0, 4096, 14336, tile).matrices, 0);
}

TrainingPlan decode(std::int64_t sequences, ExpertMatmul matmul) {
    TrainingPlan plan;
    plan.inference.emplace().runs = {{sequences, 1, 1000, 1}};
    plan.batch.tokens = sequences;
    plan.batch.sequence = 1;
    plan.forward_only = true;
    plan.attention.vmem = sim::Bytes(128 * kMiB);
    plan.moe.matmul = matmul;
    plan.moe.served = matmul == ExpertMatmul::sparse;
    return plan;
}

/// Returns the mean of the largest of `ways` counts of `trials`, over all outcomes.
double largest_by_outcomes(int ways, int trials, double chance) {
    double mean = 0;
    const int all = ways * trials;
    for (unsigned outcome = 0; outcome < 1U << static_cast<unsigned>(all); ++outcome) {
        double probability = 1;
        int largest = 0;
        for (int way = 0; way < ways; ++way) {
            int count = 0;
            for (int trial = 0; trial < trials; ++trial) {
                const bool falls =
                    (outcome >> static_cast<unsigned>(way * trials + trial) & 1U) != 0;
                count += falls ? 1 : 0;
                probability *= falls ? chance : 1 - chance;
            }
            largest = std::max(largest, count);
        }
        mean += probability * largest;
    }
    return mean;
}

TEST(FullestWay, IsTheMeanOfTheLargestCount) {
    for (const int ways : {2, 3, 5}) {
        for (const int trials : {1, 2, 3}) {
            for (const double chance : {0.1, 0.5, 0.7, 0.99}) {
                EXPECT_NEAR(fullest_of(ways, trials, chance),
                            largest_by_outcomes(ways, trials, chance), 1e-12)
                    << ways << " ways, " << trials << " trials of " << chance;
            }
        }
    }
    EXPECT_DOUBLE_EQ(fullest_of(2, 1.5, 0.5), (0.75 + 1.375) / 2);  // between one and two trials
    EXPECT_EQ(fullest_of(1, 7, 0.3), 7 * 0.3);
    EXPECT_EQ(fullest_of(4, 7, 1), 7);
    EXPECT_EQ(fullest_of(4, 7, 0), 0);
    // The larger of two normal counts of deviation 50 is 50 / sqrt(pi) above their mean.
    EXPECT_NEAR(fullest_of(2, 10000, 0.5), 5000 + 50 / std::sqrt(std::numbers::pi), 1e-3);
    // The exact sum ends and the normal one begins at 36 and 37 trials of 1/2.
    EXPECT_NEAR(fullest_of(8, 37, 0.5) - fullest_of(8, 35, 0.5), 1, 0.15);
}

// Four tokens on Mixtral reach 8 (1 - (3/4)^4) = 5.46875
// experts; their 8 rows move for each of 3 tiles of columns.
TEST(ServedExperts, ReadWhatTheirTokensMeet) {
    const ModelSpec model = find_model("mixtral-8x7b");
    const double matrix = 4096.0 * 14336;
    const Shard sparse = make_shard(model, decode(4, ExpertMatmul::sparse));
    EXPECT_EQ(sparse.experts.reached, 5.46875);
    const Compute up = experts_gate_up_forward(sparse);
    EXPECT_EQ(up.hbm.value(), 2 * 2 * (5.46875 * matrix + 8 * 4096 * 3 + 8 * 14336));
    EXPECT_EQ(up.flops.value(), 2 * 2 * 8 * matrix);
    const Compute ideal =
        experts_gate_up_forward(make_shard(model, decode(4, ExpertMatmul::ideal)));
    EXPECT_EQ(ideal.hbm.value(), 2 * (2 * 5.46875 * matrix + 8 * 4096 + 8 * 2 * 14336));
    ASSERT_EQ(ideal.matmuls.size(), 1U);
    EXPECT_EQ(ideal.matmuls.front().count, 5.46875);
    EXPECT_EQ(ideal.matmuls.front().m, 8 / 5.46875);
}

// Each of four tensor shards has 2 of Mixtral's 8 experts, whole. Their AllReduce waits for the
// fullest: of 8 copies of four tokens, which fall to each shard with chance 1/4, and of 2 experts,
// each reached with chance 1 - (3/4)^4. Columns of all 8 experts have the mean, in narrower
// products. In both forms each shard sorts all copies.
TEST(ServedExperts, AreWholeOnTheirTensorWayOrSplitByColumns) {
    const ModelSpec model = find_model("mixtral-8x7b");
    TrainingPlan plan = decode(4, ExpertMatmul::ideal);
    plan.ways.tensor = 4;
    const Shard columns = make_shard(model, plan);
    plan.moe.whole = true;
    const Shard whole = make_shard(model, plan);
    EXPECT_EQ(whole.experts.held, 2);
    EXPECT_EQ(whole.experts.copies, 8);
    EXPECT_EQ(whole.experts.d_ff, 14336);
    const double met = 1 - 0.75 * 0.75 * 0.75 * 0.75;
    const double none = std::pow((1 - met) * (1 - met), 4);
    const double not_both = std::pow(1 - met * met, 4);
    EXPECT_DOUBLE_EQ(whole.experts.reached, (1 - none) + (1 - not_both));
    EXPECT_DOUBLE_EQ(whole.experts.tokens, fullest_of(4, 8, 0.25));
    const Compute of_whole = experts_gate_up_forward(whole);
    const Compute of_columns = experts_gate_up_forward(columns);
    EXPECT_EQ(of_whole.matmuls.front().n, 4 * of_columns.matmuls.front().n);
    const double matrix = 4096.0 * 2 * 14336;
    EXPECT_DOUBLE_EQ(of_whole.flops.value(), 2 * whole.experts.tokens * matrix);
    EXPECT_DOUBLE_EQ(of_columns.flops.value(), 2 * 8 * matrix / 4);
    EXPECT_DOUBLE_EQ(of_whole.hbm.value(), 2 * (whole.experts.reached * matrix +
                                                whole.experts.tokens * (4096 + 2 * 14336)));
    EXPECT_DOUBLE_EQ(of_columns.hbm.value(), 2 * (5.46875 * matrix / 4 + 8 * (4096 + 2 * 3584)));
    EXPECT_EQ(router_forward(whole).hbm.value(), router_forward(columns).hbm.value());
    EXPECT_EQ(combine_forward(whole).hbm.value(), combine_forward(columns).hbm.value());
}

// A tile named in the scenario is megablox's: 512 rows in
// one tile of 512, which is computed for each of 8 experts.
TEST(ServedExperts, KeepATileThatIsGiven) {
    const ModelSpec model = find_model("mixtral-8x7b");
    TrainingPlan plan = decode(256, ExpertMatmul::sparse);
    const Compute chosen = experts_gate_up_forward(make_shard(model, plan));
    plan.moe.served = false;
    const Compute given = experts_gate_up_forward(make_shard(model, plan));
    EXPECT_EQ(given.matmuls.front().m, 512);
    EXPECT_EQ(chosen.matmuls.front().m, 128);
    EXPECT_EQ(given.matmuls.front().count, 2 * 8);
    EXPECT_NEAR(chosen.matmuls.front().count, 2 * 8, 1e-9);
}

// DeepSeek-V3 over expert parallelism of 16: 64 tokens of 16 chips reach 16 (1 - (31/32)^64) of a
// chip's 16 experts, 13.9; training reads all.
TEST(ServedExperts, MeetTheTokensOfAllWays) {
    const ModelSpec model = find_model("deepseek-v3");
    TrainingPlan plan = decode(64, ExpertMatmul::ideal);
    plan.ways.expert = 16;
    const Shard shard = make_shard(model, plan);
    EXPECT_EQ(shard.tokens, 4);
    double missed = 1;
    for (int token = 0; token < 64; ++token) {
        missed *= 31 / 32.0;
    }
    EXPECT_NEAR(shard.experts.reached, 16 * (1 - missed), 1e-12);
    EXPECT_NEAR(shard.experts.reached, 13.9, 0.05);
    // A rank that gets twice the mean reaches more of its
    // experts; one that gets no tokens reads nothing.
    plan.experts.loads.assign(16, 1);
    plan.experts.loads[0] = 2;
    plan.experts.loads[1] = 0;
    EXPECT_NEAR(make_shard(model, plan, {.expert = 0}).experts.reached,
                reached_groups(64, 2 / 32.0, 16), 1e-12);
    EXPECT_EQ(experts_gate_up_forward(make_shard(model, plan, {.expert = 1})).hbm.value(), 0);
    plan.inference.reset();
    plan.experts.loads.clear();
    plan.batch = {};
    plan.batch.tokens = plan.batch.sequence = 64;
    EXPECT_EQ(make_shard(model, plan).experts.reached, 16);
}

}  // namespace
}  // namespace podsim::workloads
