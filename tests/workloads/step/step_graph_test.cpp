#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::find_op;
using samples::one_chip;
using samples::one_layer;
using samples::Random;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(StepGraph, ProgramIsADagInOrderAndBuffersAreValid) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        const TrainingPlan plan = samples::random_any_plan(random, true, model);
        const StepProgram program = build_step(model, plan);
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
            const Op& op = program.ops[i];
            ASSERT_TRUE(std::ranges::is_sorted(op.after, std::ranges::less_equal{}) ||
                        op.after.size() < 2);
            for (const OpIndex before : op.after) {
                ASSERT_LT(before, i) << op.name;
            }
            ASSERT_EQ(std::ranges::adjacent_find(op.after), op.after.end()) << op.name;
            if (const auto* collective = std::get_if<Collective>(&op.work)) {
                ASSERT_GT(collective->bytes.value(), 0) << op.name;
                ASSERT_FALSE(collective->axes.empty()) << op.name;
            } else {
                ASSERT_GT(std::get<Compute>(op.work).hbm.value(), 0) << op.name;
            }
        }
        for (const Buffer& buffer : program.buffers) {
            ASSERT_GT(buffer.bytes.value(), 0);
            ASSERT_TRUE(buffer.allocated_at == kWholeStep ||
                        buffer.allocated_at < program.ops.size());
            for (const OpIndex after : buffer.freed_after) {
                ASSERT_LT(after, program.ops.size());
                ASSERT_GE(after, buffer.allocated_at);
            }
            // Only parameters, optimizer state and gradients outlive the step.
            ASSERT_TRUE(!buffer.freed_after.empty() ||
                        buffer.memory_class == MemoryClass::parameters ||
                        buffer.memory_class == MemoryClass::optimizer ||
                        buffer.memory_class == MemoryClass::gradients);
        }
        ASSERT_EQ(program.ops.back().pass, Pass::optimizer);
    }
}

// Every operation is on one chain, except the gathers of weights and reductions of gradients.
TEST(StepGraph, BlockingCollectivesStandOnTheCriticalPath) {
    Random random(7);
    for (int round = 0; round < 50; ++round) {
        const ModelSpec model = samples::random_model(random);
        const StepProgram program = build_step(model, samples::random_plan(random, true));
        OpIndex chain = kWholeStep;
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
            const auto* collective = std::get_if<Collective>(&program.ops[i].work);
            if (collective != nullptr && (collective->purpose == Purpose::weights ||
                                          collective->purpose == Purpose::gradients)) {
                continue;
            }
            if (chain != kWholeStep) {
                ASSERT_THAT(program.ops[i].after, Contains(chain)) << program.ops[i].name;
            }
            chain = static_cast<OpIndex>(i);
        }
    }
}

TEST(StepGraph, WeightGathersRunAheadByThePrefetch) {
    ModelSpec model = one_layer();
    model.layers = 4;
    TrainingPlan plan = one_chip();
    plan.ways.fsdp = 2;
    plan.batch.tokens = 64;
    plan.overlap.prefetch_layers = 1;
    const StepProgram program = build_step(model, plan);
    const auto after = [&](const std::string& name) {
        return program.ops[find_op(program, name)].after;
    };
    const auto at = [&](const std::string& name) { return find_op(program, name); };
    EXPECT_THAT(after("embedding forward gather weights"), ElementsAre());
    EXPECT_THAT(after("layer 0 forward gather weights"), ElementsAre());
    EXPECT_THAT(after("layer 1 forward gather weights"),
                ElementsAre(at("embedding forward lookup")));
    EXPECT_THAT(after("layer 2 forward gather weights"), ElementsAre(at("layer 0 forward down")));
    EXPECT_THAT(after("layer 3 backward gather weights"), ElementsAre(at("layer 3 forward down")));
    EXPECT_THAT(after("layer 2 backward gather weights"),
                ElementsAre(at("unembedding backward weight gradient")));
    EXPECT_THAT(after("layer 2 forward qkv"), Contains(at("layer 2 forward gather weights")));
    EXPECT_THAT(after("layer 2 backward down input gradient"),
                Contains(at("layer 2 backward gather weights")));
    plan.overlap.prefetch_layers = 0;
    const StepProgram strict = build_step(model, plan);
    EXPECT_THAT(strict.ops[find_op(strict, "layer 2 forward gather weights")].after,
                ElementsAre(find_op(strict, "layer 1 forward down")));
}

TEST(StepGraph, ReductionsInFlightAreBounded) {
    ModelSpec model = one_layer();
    model.layers = 4;
    TrainingPlan plan = one_chip();
    plan.ways.fsdp = 2;
    plan.ways.data = 2;
    plan.batch.tokens = 128;
    plan.overlap.reductions_in_flight = 2;
    const StepProgram program = build_step(model, plan);
    const auto after = [&](const std::string& name) {
        return program.ops[find_op(program, name)].after;
    };
    const OpIndex scatter = find_op(program, "layer 3 backward reduce-scatter gradients");
    const OpIndex reduce = find_op(program, "layer 3 backward all-reduce gradients");
    EXPECT_THAT(program.ops[scatter].after,
                ElementsAre(find_op(program, "layer 3 backward qkv weight gradient")));
    EXPECT_THAT(program.ops[reduce].after, ElementsAre(scatter));
    EXPECT_THAT(after("layer 1 backward down weight gradient"), Contains(reduce));
    EXPECT_THAT(after("layer 2 backward down weight gradient"), Not(Contains(reduce)));
    EXPECT_THAT(after("layer 2 backward down weight gradient"),
                Contains(find_op(program, "unembedding backward all-reduce gradients")));
    EXPECT_THAT(after("embedding backward scatter-add gradient"),
                Contains(find_op(program, "layer 1 backward all-reduce gradients")));
}

// The optimizer names only the last reductions; the earlier ones must still end before it.
TEST(StepGraph, TheOptimizerFollowsEverything) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model(random);
        const StepProgram program = build_step(model, samples::random_plan(random, true));
        std::vector<bool> before(program.ops.size());
        before.back() = true;
        for (std::size_t i = program.ops.size(); i-- > 0;) {
            ASSERT_TRUE(before[i]) << program.ops[i].name;
            for (const OpIndex after : program.ops[i].after) {
                before[after] = true;
            }
        }
    }
}

}  // namespace
}  // namespace podsim::workloads
