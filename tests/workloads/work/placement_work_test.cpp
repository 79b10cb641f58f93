// Plain causal placement: rank r of n has the r-th contiguous block of every sequence, and with it
// (2 r + 1) / n^2 of attention's work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/work.h"

namespace podsim::workloads {
namespace {

using samples::attention_flops;
using samples::edges;
using samples::Random;
using samples::ring;

TrainingPlan plain(TrainingPlan plan) {
    plan.attention.placement = Placement::plain;
    return plan;
}

/// Returns a plan of 32 tokens of one sequence with context parallelism of 4.
TrainingPlan plain_four_ways() {
    TrainingPlan plan = plain(samples::one_chip());
    plan.ways.context = 4;
    return plan;
}

// In zig-zag order every rank does the same work. The ranks of both placements add up to the same.
TEST(PlainPlacement, FlopsOfAllRanksAreThoseOfZigZag) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model = samples::random_model_of_training(random);
        model.window = model.global_every = 0;
        model.global = {};
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        plan.attention.causal = true;
        plan.ways.context = random.from(2, 5);
        plan.batch.sequence *= std::int64_t{plan.ways.context} * 2;
        plan.batch.tokens *= std::int64_t{plan.ways.context} * 2;
        const StepProgram zig_zag = build_step(model, plan);
        for (const bool round : {false, true}) {
            if (round) {
                plan.overlap.context_steps = ring(plan.ways.context, false, random.coin());
            }
            const StepPrograms ranks = build_stages(model, plain(plan));
            ASSERT_EQ(ranks.programs.size(), static_cast<std::size_t>(plan.ways.context));
            EXPECT_EQ(ranks.members(), ranks.programs.size());
            EXPECT_THAT(ranks.axes, ::testing::ElementsAre("pipeline", "context"));
            for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward}) {
                double sum = 0;
                for (const StepProgram& program : ranks.programs) {
                    sum += flops_by_pass(program).of(pass).value();
                }
                const double expected = plan.ways.context * flops_by_pass(zig_zag).of(pass).value();
                EXPECT_NEAR(sum, expected, 1e-12 * expected);
            }
            const StepFlops flops =
                step_flops(model, plain(plan), mean_recomputed(model, plain(plan), ranks));
            const StepFlops even =
                step_flops(model, plan, mean_recomputed(model, plan, build_stages(model, plan)));
            EXPECT_DOUBLE_EQ(flops.model.value(), even.model.value());
            EXPECT_NEAR(flops.hardware.value(), even.hardware.value(),
                        1e-12 * even.hardware.value());
        }
    }
}

// With a window zig-zag gives the chips unequal work, and the program is that of the fullest.
// Executed recomputation counts as the mean of all chips, as with plain blocks.
TEST(PlainPlacement, HfuOfWindowsIsTheMeanOfChips) {
    ModelSpec model = samples::one_layer();
    model.window = 12;
    TrainingPlan plan = samples::one_chip();
    plan.ways.context = 4;
    plan.remat.policy = RematPolicy::block;
    const StepPrograms even = build_stages(model, plan);
    const StepPrograms ranks = build_stages(model, plain(plan));
    double sum = 0;
    for (const StepProgram& program : ranks.programs) {
        sum += flops_by_pass(program).of(Pass::recompute).value();
    }
    EXPECT_GT(flops_by_pass(even.programs.front()).of(Pass::recompute).value(), sum / 4);
    EXPECT_DOUBLE_EQ(mean_recomputed(model, plan, even).value(), sum / 4);
}

// S = 32, n = 4, N = 4, H = 4: 2 (4 + 4) 4 = 64 FLOPs a pair, with 8 x 8 / 2 (2 r + 1) pairs.
TEST(PlainPlacement, RankHasItsShare) {
    for (const bool round : {false, true}) {
        TrainingPlan plan = plain_four_ways();
        if (round) {
            plan.overlap.context_steps = ring(4, false);
        }
        for (int rank = 0; rank < 4; ++rank) {
            const StepProgram program =
                build_step(samples::one_layer(), plan, {.stage = 0, .context = rank});
            EXPECT_EQ(attention_flops(program, Pass::forward), 64 * 32 * (2 * rank + 1));
            EXPECT_EQ(attention_flops(program, Pass::backward), 2 * 64 * 32 * (2 * rank + 1));
        }
    }
}

// With a window of 12 in blocks of 8, queries 0 to 11 see 0 to 11 keys
// before them, the others 12. Pairs of blocks are 8 x 8 / 2 = 32; 72 -
// 32 + 4 x 12 = 88; then 96 each, together 32 x 12 - 72 = 312.
TEST(PlainPlacement, WindowIsWhatTheRanksQueriesSee) {
    ModelSpec model = samples::one_layer();
    model.window = 12;
    double sum = 0;
    for (const auto& [rank, pairs] : {std::pair{0, 32}, {1, 88}, {2, 96}, {3, 96}}) {
        const StepProgram program =
            build_step(model, plain_four_ways(), {.stage = 0, .context = rank});
        EXPECT_EQ(attention_flops(program, Pass::forward), 64 * pairs);
        sum += pairs;
    }
    EXPECT_EQ(sum, 312);
}

// Full attention is the same work wherever its queries lie.
TEST(PlainPlacement, FullAttentionIsOneProgram) {
    TrainingPlan plan = plain_four_ways();
    plan.attention.causal = false;
    EXPECT_EQ(build_stages(samples::one_layer(), plan).programs.size(), 1U);
}

// HBM of a rank's attention if one block of queries holds all 8 (b = 1), and if it holds 4 (b = 2).
// Queries and outputs are 8 x 4 x (4 + 4) elements, keys and values of the sequence 32 x 2 x (4 +
// 4); those are read p = (b r + (b + 1) / 2) / 4 times. Backward, queries, outputs and their
// gradients move once. Keys, values and the sums of their gradients move p times each, but the
// gradients of r + 1 blocks are not read the first time, and those of the other 3 - r are zeroed.
TEST(PlainPlacement, ReadsKeysUpToItsOwn) {
    const double own = 2 * 8 * 4 * 8;
    const double keys = 2 * 32 * 2 * 8;
    for (const double b : {1.0, 2.0}) {
        for (int rank = 0; rank < 4; ++rank) {
            Shard shard =
                make_shard(samples::one_layer(), plain_four_ways(), {.stage = 0, .context = rank});
            if (b == 2) {
                shard.vmem = 0;
                ASSERT_EQ(query_block_rows(shard),
                          8);  // minimum: 4 queries of 2 heads that share keys
            }
            const double p = (b * rank + (b + 1) / 2) / 4;
            EXPECT_EQ(attention_forward(shard, false).hbm.value(), own + keys * p);
            EXPECT_EQ(attention_backward(shard, false).hbm.value(),
                      2 * own + keys * (3 * p - (rank + 1) / 4.0 + (3 - rank) / 4.0));
            // The parts by blocks move the same, except that each
            // has queries and outputs, and none writes zeros.
            double forward = 0;
            double backward = 0;
            for (int block = 0; block <= rank; ++block) {
                forward += attention_forward_to(shard, block).hbm.value() - own;
                backward += attention_backward_to(shard, block).hbm.value() - 2 * own;
            }
            EXPECT_EQ(forward, keys * p);
            EXPECT_EQ(backward, keys * (3 * p - (rank + 1) / 4.0));
        }
    }
}

// In round s rank 1 of a ring of 4 holds the block of
// rank 1 - s: its own, 0, 3, 2. It skips the last two.
TEST(PlainPlacement, RingSkipsBlocksOfLaterRanks) {
    TrainingPlan plan = plain_four_ways();
    plan.overlap.context_steps = ring(4, false);
    const StepProgram program = build_step(samples::one_layer(), plan, {.stage = 0, .context = 1});
    EXPECT_THAT(
        edges(program, "forward", "attention 1/4", "out"),
        ::testing::ElementsAre("attention 1/4: qkv,", "gather keys and values step 1: qkv,",
                               "attention 2/4: attention 1/4, gather keys and values step 1,",
                               "gather keys and values step 2: gather keys and values step 1,",
                               "gather keys and values step 3: gather keys and values step 2,",
                               "out: attention 2/4,"));
    EXPECT_THAT(
        edges(program, "backward", "attention gradient 1/4", "qkv input gradient"),
        ::testing::ElementsAre(
            "attention gradient 1/4: out weight gradient,",
            "gather keys and values step 1: out weight gradient,",
            "attention gradient 2/4: attention gradient 1/4, gather keys and values step 1,",
            "scatter attention gradient step 1: attention gradient 2/4,",
            "gather keys and values step 2: gather keys and values step 1,",
            "scatter attention gradient step 2: scatter attention gradient step 1, gather keys and "
            "values step 2,",
            "gather keys and values step 3: gather keys and values step 2,",
            "scatter attention gradient step 3: scatter attention gradient step 2, gather keys and "
            "values step 3,",
            "qkv input gradient: attention gradient 2/4, scatter attention gradient step 3,"));
}

// On a line of 4 the ring is 0, 2, 3, 1: rank 1 gets
// its own block, 3, 2, 0, and rank 2 its own, 0, 1, 3.
TEST(PlainPlacement, RingByTwosBringsOtherBlocks) {
    TrainingPlan plan = plain_four_ways();
    plan.overlap.context_steps = ring(4, false, false);
    std::map<int, std::vector<std::string>> parts;
    for (int rank = 0; rank < 4; ++rank) {
        for (const Op& op :
             build_step(samples::one_layer(), plan, {.stage = 0, .context = rank}).ops) {
            if (op.pass == Pass::forward && op.name.starts_with("layer 0 forward attention ")) {
                parts[rank].push_back(op.name.substr(26));
            }
        }
    }
    EXPECT_THAT(parts[0], ::testing::ElementsAre("1/4"));
    EXPECT_THAT(parts[1], ::testing::ElementsAre("1/4", "4/4"));
    EXPECT_THAT(parts[2], ::testing::ElementsAre("1/4", "2/4", "3/4"));
    EXPECT_THAT(parts[3], ::testing::ElementsAre("1/4", "2/4", "3/4", "4/4"));
}

// Every rank takes part in the same collectives in the
// same order, which programs of unequal work share.
TEST(PlainPlacement, RanksHaveTheSameCollectives) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        plan.attention.causal = true;
        plan.ways.context = random.from(2, 4);
        plan.batch.sequence *= plan.ways.context;
        plan.batch.tokens *= plan.ways.context;
        plan.overlap.context_steps = ring(plan.ways.context, false, random.coin());
        const StepPrograms ranks = build_stages(model, plain(plan));
        const auto collectives = [&](const StepProgram& program) {
            std::vector<std::string> names;
            for (const Op& op : program.ops) {
                if (std::holds_alternative<Collective>(op.work)) {
                    names.push_back(op.name);
                }
            }
            return names;
        };
        for (const StepProgram& program : ranks.programs) {
            EXPECT_EQ(collectives(program), collectives(ranks.programs[0]));
            samples::expect_buffers_in_order(program);
        }
    }
}

// Contiguous blocks need no pairs of pieces.
TEST(PlainPlacement, SequenceSplitsIntoBlocksAlone) {
    TrainingPlan plan = plain_four_ways();
    plan.batch.tokens = plan.batch.sequence = 28;
    EXPECT_NO_THROW(validate(plan, samples::one_layer()));
    plan.attention.placement = Placement::zig_zag;
    EXPECT_EQ(samples::message_of([&] { validate(plan, samples::one_layer()); }),
              "sequence = 28 does not split into the 2 x context = 8 equal pieces of the causal "
              "zig-zag placement; the nearest that work are 24 and 32");
}

}  // namespace
}  // namespace podsim::workloads
