// Unequal experts: the tokens that each rank of the expert axis takes, in FLOPs and bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::Random;

ModelSpec four_experts() {
    ModelSpec model = samples::one_layer();
    model.experts = {.count = 4, .per_token = 2, .shared = 0, .d_ff = 32};
    return model;
}

/// Returns a plan of two ranks with 32 tokens each.
TrainingPlan two_ranks() {
    TrainingPlan plan = samples::one_chip();
    plan.batch.tokens *= 2;
    plan.ways.expert = 2;
    return plan;
}

// The loads add up to the number of ranks: the FLOPs of all ranks equal those of equal ones.
TEST(UnequalExperts, FlopsOfAllRanksAreThoseOfEqualOnes) {
    int tried = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        if (plan.ways.expert == 1) {
            continue;
        }
        ++tried;
        const StepPrograms even = build_stages(model, plan);
        ASSERT_EQ(even.programs.size(), 1U);
        const int first = random.coin() ? 1 : 0;  // 0: the first rank takes nothing
        for (int rank = 0; rank < plan.ways.expert; ++rank) {
            plan.experts.loads.push_back(2.0 * (rank + first) / (plan.ways.expert - 1 + 2 * first));
        }
        const StepPrograms ranks = build_stages(model, plan);
        ASSERT_EQ(ranks.programs.size(), static_cast<std::size_t>(plan.ways.expert));
        EXPECT_THAT(ranks.axes, ::testing::ElementsAre("pipeline", "expert"));
        for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward, Pass::optimizer}) {
            double sum = 0;
            for (const StepProgram& program : ranks.programs) {
                sum += flops_by_pass(program).of(pass).value();
            }
            const double expected =
                plan.ways.expert * flops_by_pass(even.programs[0]).of(pass).value();
            EXPECT_NEAR(sum, expected, 1e-12 * expected);
        }
        // V of every AllToAll equals that of equal ranks.
        for (const StepProgram& program : ranks.programs) {
            const auto rows = collective_bytes(program);
            const auto others = collective_bytes(even.programs[0]);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (rows[i].purpose == Purpose::expert) {
                    EXPECT_DOUBLE_EQ(rows[i].bytes.value(), others[i].bytes.value());
                }
            }
        }
    }
    EXPECT_GT(tried, 20);
}

// With 32 tokens a rank, k = 2, D = 16, 64 rows leave each of two ranks:
// 2 x 64 x 16 elements of 2 bytes in each direction. Rank 0 takes 3/2,
// 96 rows, rank 1 32: 2 x rows x 16 x 64 FLOPs of gate and up.
TEST(UnequalExperts, RowsGoWhereTheLoadIs) {
    const ModelSpec model = four_experts();
    TrainingPlan plan = two_ranks();
    plan.experts.loads = {1.5, 0.5};
    for (const auto& [rank, rows] : {std::pair{0, 96}, {1, 32}}) {
        const StepProgram program =
            build_step(model, plan, {.stage = 0, .context = 0, .expert = rank});
        const auto work = [&](const std::string& name) {
            return program.ops[samples::find_op(program, "layer 0 " + name)].work;
        };
        EXPECT_EQ(std::get<Compute>(work("forward experts gate_up")).flops.value(),
                  2 * rows * 16 * 64);
        for (const auto& [name, returning] : {std::pair{"forward exchange tokens", false},
                                              {"forward exchange expert output", true},
                                              {"backward exchange expert output gradient", false},
                                              {"backward exchange token gradient", true}}) {
            const auto exchange = std::get<Collective>(work(name));
            EXPECT_EQ(exchange.bytes.value(), 2 * 64 * 16 * 2) << name;
            EXPECT_THAT(exchange.loads, ::testing::ElementsAre(1.5, 0.5));
            EXPECT_EQ(exchange.returning, returning) << name;
        }
    }
}

// The second of two ranks takes no tokens. Its experts have no FLOPs, and only the bytes of the
// zeros of their gradients, two of 16 x 64 (gate and up) or 32 x 16 elements of 2 bytes. It has the
// same operations and collectives as the first.
TEST(UnequalExperts, RankWithoutTokensDoesNothingForItsExperts) {
    const ModelSpec model = four_experts();
    TrainingPlan plan = two_ranks();
    plan.experts.loads = {2, 0};
    for (const MatmulDtype dtype : {MatmulDtype::bf16, MatmulDtype::int8}) {
        plan.precision.matmul = dtype;
        const StepPrograms both = build_stages(model, plan);
        EXPECT_EQ(samples::names(both.programs[0]), samples::names(both.programs[1]));
        const auto gradients = [](double elements) { return 2 * 2 * elements; };
        for (const auto& [name, bytes] :
             {std::pair{"forward experts gate_up", 0.0},
              {"forward experts down", 0.0},
              {"backward experts down input gradient", 0.0},
              {"backward experts down weight gradient", gradients(32 * 16)},
              {"backward experts gate_up input gradient", 0.0},
              {"backward experts gate_up weight gradient", gradients(16 * 64)}}) {
            const Compute work =
                samples::compute_of(both.programs[1], std::string("layer 0 ") + name);
            EXPECT_EQ(work.flops.value(), 0) << name;
            EXPECT_EQ(work.vector.value(), 0) << name;
            EXPECT_EQ(work.hbm.value(), bytes) << name;
        }
        for (const Buffer& buffer : both.programs[1].buffers) {
            EXPECT_GT(buffer.bytes.value(), 0);
        }
    }
}

// HFU counts the recomputation of the real tokens: it is the same for any capacity, and whether the
// fullest or each rank is computed.
TEST(UnequalExperts, HardwareFlopsDoNotDependOnTheLoad) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan even = samples::random_any_plan(random, true, model);
        if (even.ways.expert == 1) {
            continue;
        }
        const auto flops = [&](const TrainingPlan& plan) {
            return step_flops(model, plan, mean_recomputed(model, plan, build_stages(model, plan)));
        };
        TrainingPlan padded = even;
        padded.experts.capacity_factor = 2.5;
        TrainingPlan fullest = even;
        fullest.experts.imbalance = 2.5;
        TrainingPlan ranks = even;
        ranks.experts.loads.assign(static_cast<std::size_t>(even.ways.expert), 0);
        ranks.experts.loads[0] = even.ways.expert;
        const double expected = flops(even).hardware.value();
        for (const TrainingPlan& plan : {padded, fullest, ranks}) {
            EXPECT_NEAR(flops(plan).hardware.value(), expected, 1e-12 * expected);
            EXPECT_EQ(flops(plan).model, flops(even).model);
        }
    }
}

TEST(UnequalExperts, NeedALoadForEveryRank) {
    const ModelSpec model = four_experts();
    TrainingPlan plan = two_ranks();
    plan.experts.loads = {1, 1, 1};
    EXPECT_EQ(samples::message_of([&] { validate(plan, model); }),
              "expert_imbalance has 3 shares, but expert = 2; write one for each rank of the axis "
              "expert");
    plan.experts.loads = {1.5, 0.5};
    plan.experts.capacity_factor = 1.25;
    EXPECT_EQ(samples::message_of([&] { validate(plan, model); }),
              "capacity_factor beside expert_imbalance; experts are either padded to a capacity or "
              "take what comes: keep one");
}

}  // namespace
}  // namespace podsim::workloads
