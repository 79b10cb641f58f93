#include "workloads/plan/plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/padding.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::message_of;

TrainingPlan quick_start() {
    TrainingPlan plan;
    plan.batch.tokens = 4 << 20;
    plan.batch.sequence = 4096;
    plan.ways.fsdp = 1120;
    plan.ways.context = 2;
    plan.ways.tensor = 4;
    return plan;
}

std::string refusal(const TrainingPlan& plan) {
    return message_of([&] { validate(plan, find_model("llama-3-70b")); });
}

TEST(Plan, ShardsWithoutASequenceArePadded) {
    const TrainingPlan plan = quick_start();
    EXPECT_NO_THROW(validate(plan, find_model("llama-3-70b")));
    const Occupancy load = occupancy(plan.batch, plan.ways);
    EXPECT_EQ(load.sequences, 1024);
    EXPECT_EQ(load.sequences_per_shard, 1);
    EXPECT_DOUBLE_EQ(load.occupied, 1024.0 / 1120);  // 91.4 %
    EXPECT_EQ(load.tokens_per_chip_group, 2048);
}

TEST(Plan, SequencesPerShardRoundUp) {
    TrainingPlan plan = quick_start();
    plan.ways.fsdp = 300;
    plan.ways.data = 2;
    EXPECT_EQ(occupancy(plan.batch, plan.ways).sequences_per_shard, 2);
    EXPECT_DOUBLE_EQ(occupancy(plan.batch, plan.ways).occupied, 1024.0 / 1200);
    plan.ways.fsdp = 256;
    EXPECT_EQ(occupancy(plan.batch, plan.ways).occupied, 1);
}

// Sizes that tensor parallelism does not divide are padded to the next multiple (GSPMD). For 6: 64
// heads to 66, 28672 columns to 28674; 128256 entries already divide. The 8 key/value heads' 1024
// columns do not, and 12 heads would not divide 66.
TEST(Plan, TensorPadsWhatItDoesNotDivide) {
    TrainingPlan plan = quick_start();
    plan.ways.tensor = 6;
    EXPECT_EQ(refusal(plan),
              "tensor = 6 pads the 64 query heads of llama-3-70b to 66, which its 12 key/value "
              "heads do not divide; the nearest that work are 4 and 8");
    // 16 split the columns of the 8 key/value heads; 128 are more than there are query heads.
    for (const int ways : {16, 128}) {
        plan.ways.tensor = ways;
        EXPECT_NO_THROW(validate(plan, find_model("llama-3-70b")));
    }
    ModelSpec model = find_model("llama-3-70b");
    plan.ways.tensor = 4;
    EXPECT_TRUE(paddings(model, plan.ways).empty());
    model.d_ff = 28674;
    model.vocabulary = 128258;
    EXPECT_NO_THROW(validate(plan, model));
    std::vector<std::string> found;
    for (const Padding& one : paddings(model, plan.ways)) {
        found.push_back(fmt::format("{} {} {}", one.what, one.size, one.padded));
    }
    EXPECT_THAT(found, ::testing::ElementsAre("feed-forward columns (d_ff) 28674 28676",
                                              "vocabulary entries 128258 128260"));
    EXPECT_EQ(padded(model, plan.ways).d_ff, 28676);
    EXPECT_EQ(padded(model, plan.ways).heads, 64);
    // If keys and values have as many heads as queries, they are padded with them.
    plan.ways.tensor = 64;
    model.heads = model.kv_heads = 48;
    EXPECT_EQ(padded(model, plan.ways).heads, 64);
    EXPECT_EQ(padded(model, plan.ways).kv_heads, 64);
    ModelSpec mixture = find_model("mixtral-8x7b");
    mixture.experts.d_ff = 14338;
    plan.ways.tensor = 4;
    EXPECT_EQ(padded(mixture, plan.ways).experts.d_ff, 14340);
    ModelSpec latent = find_model("deepseek-v3");
    latent.latent.kv_rank = 510;
    EXPECT_EQ(message_of([&] { validate(plan, latent); }),
              "tensor = 4 does not divide the 574 latent columns of keys of deepseek-v3; the "
              "nearest that works is 2");
    latent.latent.kv_rank = 512;
    latent.latent.q_rank = 1538;
    EXPECT_EQ(padded(latent, plan.ways).latent.q_rank, 1540);
}

// A step of padded sizes equals that of a model that has them.
TEST(Plan, APaddedStepIsThatOfTheWiderModel) {
    ModelSpec model = find_model("llama-3-70b");
    model.layers = 2;
    model.d_ff = 28670;
    TrainingPlan plan = quick_start();
    plan.ways = {};
    plan.ways.tensor = 4;
    const StepProgram made = build_step(model, plan);
    model.d_ff = 28672;
    const StepProgram wide = build_step(model, plan);
    ASSERT_EQ(made.ops.size(), wide.ops.size());
    for (std::size_t i = 0; i < made.ops.size(); ++i) {
        const auto* a = std::get_if<Compute>(&made.ops[i].work);
        const auto* b = std::get_if<Compute>(&wide.ops[i].work);
        ASSERT_EQ(a == nullptr, b == nullptr);
        if (a != nullptr) {
            EXPECT_EQ(a->flops.value(), b->flops.value()) << made.ops[i].name;
            EXPECT_EQ(a->hbm.value(), b->hbm.value()) << made.ops[i].name;
        }
    }
}

TEST(Plan, ExpertWaysMustDivideTheExperts) {
    TrainingPlan plan = quick_start();
    plan.ways.expert = 4;
    EXPECT_EQ(refusal(plan), "expert = 4, but llama-3-70b has no experts; use the axis as fsdp");
    const auto of_mixtral = [&] {
        return message_of([&] { validate(plan, find_model("mixtral-8x7b")); });
    };
    plan.ways.expert = 3;
    EXPECT_EQ(
        of_mixtral(),
        "expert = 3 does not divide the 8 experts of mixtral-8x7b; the nearest that work are 2 "
        "and 4");
    plan.ways.expert = 4;
    plan.experts.capacity_factor = 0.5;
    EXPECT_EQ(of_mixtral(), "capacity_factor = 0.5 is out of range; allowed are 1 to 1024");
    plan.experts.capacity_factor = plan.experts.imbalance = 1.5;
    EXPECT_EQ(
        of_mixtral(),
        "capacity_factor beside expert_imbalance; experts are either padded to a capacity or take "
        "what comes: keep one");
    plan.experts.capacity_factor = 1;
    EXPECT_NO_THROW(validate(plan, find_model("mixtral-8x7b")));
    plan.ways.expert = 1;
    EXPECT_EQ(refusal(plan),
              "expert_imbalance = 1.5, but llama-3-70b has no experts; leave it out");
    const std::string one_rank =
        "expert_imbalance with expert = 1: every chip has all experts; leave it out, or add the "
        "axis expert";
    EXPECT_EQ(of_mixtral(), one_rank);
    plan.experts.imbalance = 1;
    plan.experts.loads = {1};
    EXPECT_EQ(of_mixtral(), one_rank);
    EXPECT_EQ(refusal(plan), "expert_imbalance of llama-3-70b, which has no experts; leave it out");
    // The batch is also split over expert.
    plan.ways.expert = 8;
    EXPECT_EQ(occupancy(plan.batch, plan.ways).occupied, 1024.0 / (1120 * 8));
}

TEST(Plan, BatchAndSequenceMustSplit) {
    TrainingPlan plan = quick_start();
    plan.batch.tokens += 1;
    EXPECT_EQ(refusal(plan),
              "tokens = 4194305 is not a multiple of sequence = 4096; the nearest that "
              "work are 4194304 and 4198400");
    plan.batch.tokens = 100;
    EXPECT_EQ(refusal(plan),
              "tokens = 100 is not a multiple of sequence = 4096; the nearest that works is 4096");
    plan = quick_start();
    plan.ways.context = 3;
    EXPECT_EQ(refusal(plan),
              "sequence = 4096 does not split into the 2 x context = 6 equal pieces of "
              "the causal zig-zag placement; the nearest that work are 4092 and 4104");
    plan.attention.causal = false;
    EXPECT_EQ(refusal(plan),
              "sequence = 4096 does not split over context = 3; the nearest that work "
              "are 4092 and 4104");
    plan = quick_start();
    plan.batch.sequence = plan.batch.tokens = 4100;
    EXPECT_EQ(refusal(plan),
              "sequence = 4100 does not split over context x tensor = 8; the nearest "
              "that work are 4096 and 4104");
}

TEST(Plan, EverySettingHasARange) {
    TrainingPlan plan = quick_start();
    plan.batch.tokens = 0;
    EXPECT_EQ(refusal(plan), "tokens = 0 is out of range; allowed are 1 to 1099511627776");
    plan = quick_start();
    plan.batch.sequence = -4096;
    EXPECT_EQ(refusal(plan), "sequence = -4096 is out of range; allowed are 1 to 1099511627776");
    plan = quick_start();
    plan.ways.fsdp = 0;
    EXPECT_EQ(refusal(plan), "fsdp = 0 is out of range; allowed are 1 to 1048576");
    plan = quick_start();
    plan.overlap.prefetch_layers = -1;
    EXPECT_EQ(refusal(plan), "prefetch_layers = -1 is out of range; allowed are 0 to 1048576");
    plan = quick_start();
    plan.overlap.reductions_in_flight = 0;
    EXPECT_EQ(refusal(plan), "reductions_in_flight = 0 is out of range; allowed are 1 to 1048576");
    plan = quick_start();
    plan.precision.gradients = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(refusal(plan),
              "precision: nan B for one element of gradients; allowed are more than 0 "
              "up to 16 B");
}

TEST(Plan, RandomPlansAreLegal) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        samples::Random random(seed);
        const ModelSpec model = samples::random_any_model(random);
        EXPECT_NO_THROW(validate(samples::random_any_plan(random, true, model), model));
    }
}

}  // namespace
}  // namespace podsim::workloads
