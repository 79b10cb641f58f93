// Steps whose tensor collectives are ring steps
// between parts of their matmuls: bytes, FLOPs, order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::edges;
using samples::Random;
using samples::ring;

// The table of the reference text counts V of every collective once; ring steps add nothing to it.
// The parts of a matmul add up to it.
TEST(CollectiveMatmul, BytesAndFlopsAreThoseOfTheBlockingForm) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        samples::name_tensors(random, model, plan);
        validate(plan, model);
        const StepProgram blocking = build_step(model, plan);
        plan.overlap.tensor_steps =
            plan.ways.tensor > 1
                ? std::optional(ring(plan.ways.tensor, random.coin(), random.coin()))
                : std::nullopt;
        const StepProgram overlapped = build_step(model, plan);
        const auto rows = collective_bytes(blocking);
        const auto other = collective_bytes(overlapped);
        ASSERT_EQ(rows.size(), other.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows[i].layer, other[i].layer);
            EXPECT_EQ(rows[i].pass, other[i].pass);
            EXPECT_EQ(rows[i].purpose, other[i].purpose);
            EXPECT_DOUBLE_EQ(rows[i].bytes.value(), other[i].bytes.value());
        }
        for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward}) {
            EXPECT_NEAR(flops_by_pass(overlapped).of(pass).value(),
                        flops_by_pass(blocking).of(pass).value(),
                        1e-9 * flops_by_pass(blocking).total().value());
        }
        samples::expect_buffers_in_order(overlapped);
    }
}

/// Returns a model in which every head has its own
/// keys and values, so that tensor of 4 divides them.
ModelSpec own_keys() {
    ModelSpec model = samples::one_layer();
    model.kv_heads = 4;
    return model;
}

TrainingPlan four_tensor_ways(bool two_way) {
    TrainingPlan plan = samples::one_chip();
    plan.ways.tensor = 4;
    plan.overlap.tensor_steps = ring(4, two_way);
    return plan;
}

// The permute of chunk i + 1 depends only on chunk i, partial matmul i on chunk i (and the stream).
TEST(CollectiveMatmul, OneWayGatherThenScatter) {
    const StepProgram program = build_step(own_keys(), four_tensor_ways(false));
    EXPECT_THAT(edges(program, "forward", "gate_up 1/4", "down 4/4"),
                ::testing::ElementsAre(
                    "gate_up 1/4: scatter out step 1, out 4/4,",
                    "gather mlp input step 1: scatter out step 1, out 4/4,",
                    "gate_up 2/4: gate_up 1/4, gather mlp input step 1,",
                    "gather mlp input step 2: gather mlp input step 1,",
                    "gate_up 3/4: gate_up 2/4, gather mlp input step 2,",
                    "gather mlp input step 3: gather mlp input step 2,",
                    "gate_up 4/4: gate_up 3/4, gather mlp input step 3,", "down 1/4: gate_up 4/4,",
                    "scatter down step 3: down 1/4,", "down 2/4: down 1/4,",
                    "scatter down step 2: scatter down step 3, down 2/4,", "down 3/4: down 2/4,",
                    "scatter down step 1: scatter down step 2, down 3/4,", "down 4/4: down 3/4,"));
}

// Blocks go in both directions, with half of the opposite one in each.
TEST(CollectiveMatmul, TwoWayGatherThenScatter) {
    const StepProgram program = build_step(own_keys(), four_tensor_ways(true));
    EXPECT_THAT(edges(program, "forward", "gate_up 1/4", "down 4/4"),
                ::testing::ElementsAre(
                    "gate_up 1/4: scatter out step 2, scatter out step 1, out 4/4,",
                    "gather mlp input step 1: scatter out step 2, scatter out step 1, out 4/4,",
                    "gate_up 2/4: gate_up 1/4, gather mlp input step 1,",
                    "gather mlp input step 2: scatter out step 2, scatter out step 1, out 4/4,",
                    "gate_up 3/4: gate_up 2/4, gather mlp input step 2,",
                    "gather mlp input step 3: gather mlp input step 1,",
                    "gather mlp input step 4: gather mlp input step 2,",
                    "gate_up 4/4: gate_up 3/4, gather mlp input step 3, gather mlp input step 4,",
                    "down 1/4: gate_up 4/4,", "scatter down step 3: down 1/4,",
                    "scatter down step 4: down 1/4,", "down 2/4: down 1/4,",
                    "scatter down step 2: scatter down step 4, down 2/4,", "down 3/4: down 2/4,",
                    "scatter down step 1: scatter down step 3, down 3/4,", "down 4/4: down 3/4,"));
    // Half of V/4 = 32 x 16 x 2 / 4 bytes.
    const auto& half = std::get<Collective>(
        program.ops[samples::find_op(program, "layer 0 forward scatter down step 3")].work);
    EXPECT_EQ(half.step, (collectives::RingStep{0, -1, sim::Bytes(128)}));
    EXPECT_EQ(half.bytes, sim::Bytes(1024));  // the first of its ReduceScatter counts V
}

// A part of 8 of 32 rows has 2 x 8 x 16 x 16 FLOPs. It reads 8 x 16 rows and all 16 x 16 weights,
// writes 8 x 16, 2 bytes each, and does a quarter of the norm's 4 r D b = 1024 bytes.
TEST(CollectiveMatmul, APartReadsAllWeights) {
    const StepProgram program = build_step(own_keys(), four_tensor_ways(false));
    const auto& part = std::get<Compute>(
        program.ops[samples::find_op(program, "layer 0 forward gate_up 2/4")].work);
    EXPECT_EQ(part.flops, sim::Flops(2 * 8 * 16 * 16));
    EXPECT_EQ(part.hbm, sim::Bytes(2 * (8 * 16 + 16 * 16 + 8 * 16) + 1024 / 4));
    ASSERT_EQ(part.matmuls.size(), 1U);
    EXPECT_EQ(part.matmuls[0].m, 8);
    EXPECT_EQ(part.matmuls[0].k, 16);
    EXPECT_EQ(part.matmuls[0].n, 16);
}

/// Returns the number of blocks that attention goes through.
double grid_steps(const StepProgram& program, Pass pass) {
    double sum = 0;
    for (const Op& op : program.ops) {
        const auto* work = std::get_if<Compute>(&op.work);
        sum += work != nullptr && op.pass == pass ? work->grid_steps : 0;
    }
    return sum;
}

// The table's V of keys and values is moved once forward; backward once for themselves, which go
// round again, and once for their gradients.
TEST(RingAttention, BytesAndFlops) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model = samples::random_any_model(random);
        model.window = model.global_every = 0;
        model.global = {};
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        plan.ways.context = random.from(2, 5);
        plan.batch.sequence *= std::int64_t{plan.ways.context} * 2;
        plan.batch.tokens *= std::int64_t{plan.ways.context} * 2;
        samples::name_tensors(random, model, plan);
        validate(plan, model);
        const StepProgram gathered = build_step(model, plan);
        plan.overlap.context_steps = ring(plan.ways.context, false, random.coin());
        const StepProgram program = build_step(model, plan);
        const double ways = model.kv_heads % plan.ways.tensor == 0 ? plan.ways.tensor : 1;
        const AttentionSizes sizes = attention_sizes(model, {});
        const double v =
            static_cast<double>(2 * occupancy(plan.batch, plan.ways).sequences_per_shard *
                                plan.batch.sequence * model.kv_heads) *
            static_cast<double>(sizes.head_dim + sizes.value_dim) / ways;
        std::map<Pass, double> bytes;
        for (const CollectiveBytes& row : collective_bytes(program)) {
            if (row.layer == 0 && row.purpose == Purpose::context) {
                bytes[row.pass] = row.bytes.value();
            }
        }
        EXPECT_DOUBLE_EQ(bytes[Pass::forward], v);
        EXPECT_DOUBLE_EQ(bytes[Pass::backward], 2 * v);
        // Attention runs again if its output is not kept:
        // for its own gradient, or the projection behind it.
        const bool again = !kept_tensors(plan.remat).has(LayerTensor::attended);
        EXPECT_DOUBLE_EQ(bytes[Pass::recompute], again ? v : 0);
        for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward}) {
            EXPECT_NEAR(flops_by_pass(program).of(pass).value(),
                        flops_by_pass(gathered).of(pass).value(),
                        1e-9 * flops_by_pass(gathered).total().value());
            EXPECT_NEAR(grid_steps(program, pass), grid_steps(gathered, pass),
                        1e-9 * grid_steps(gathered, pass));
        }
    }
}

// A block is passed on when it has arrived. The gradients of a block follow it one step behind its
// attention, and the last to come are those of the chip's own block.
TEST(RingAttention, BlocksAndTheirGradientsGoRound) {
    TrainingPlan plan = four_tensor_ways(false);
    plan.ways.tensor = 1;
    plan.overlap.tensor_steps.reset();
    plan.ways.context = 4;
    plan.overlap.context_steps = ring(4, false);
    const StepProgram program = build_step(own_keys(), plan);
    EXPECT_THAT(
        edges(program, "forward", "attention 1/4", "out"),
        ::testing::ElementsAre("attention 1/4: qkv,", "gather keys and values step 1: qkv,",
                               "attention 2/4: attention 1/4, gather keys and values step 1,",
                               "gather keys and values step 2: gather keys and values step 1,",
                               "attention 3/4: attention 2/4, gather keys and values step 2,",
                               "gather keys and values step 3: gather keys and values step 2,",
                               "attention 4/4: attention 3/4, gather keys and values step 3,",
                               "out: attention 4/4,"));
    EXPECT_THAT(
        edges(program, "backward", "attention gradient 1/4", "qkv input gradient"),
        ::testing::ElementsAre(
            "attention gradient 1/4: out weight gradient,",
            "gather keys and values step 1: out weight gradient,",
            "attention gradient 2/4: attention gradient 1/4, gather keys and values step 1,",
            "scatter attention gradient step 1: attention gradient 2/4,",
            "gather keys and values step 2: gather keys and values step 1,",
            "attention gradient 3/4: attention gradient 2/4, gather keys and values step 2,",
            "scatter attention gradient step 2: scatter attention gradient step 1, "
            "attention gradient 3/4,",
            "gather keys and values step 3: gather keys and values step 2,",
            "attention gradient 4/4: attention gradient 3/4, gather keys and values step 3,",
            "scatter attention gradient step 3: scatter attention gradient step 2, "
            "attention gradient 4/4,",
            "qkv input gradient: attention gradient 4/4, scatter attention gradient step 3,"));
    // 8 queries of each of 4 heads attend to 8 of 32 keys: a quarter of 2 (4 + 4) 4 x 32^2 / 2 / 4
    // FLOPs. The part reads 8 x 16 queries, 2 x 8 x 16 keys and values (2 + 1/4) / 2 times and the
    // 8 x 16 outputs so far, and writes those, 2 bytes each.
    const auto& part = std::get<Compute>(
        program.ops[samples::find_op(program, "layer 0 forward attention 2/4")].work);
    EXPECT_EQ(part.flops, sim::Flops(2 * 8 * 4 * 32 * 32 / 2 / 4 / 4));
    EXPECT_EQ(part.hbm, sim::Bytes(2 * (8 * 16 + 2 * 8 * 16 * 9 / 8 + 8 * 16 + 8 * 16)));
    EXPECT_EQ(part.matmuls[0].n, 8);
    EXPECT_EQ(part.matmuls[1].k, 8);
}

// Arrays that only the weight gradients need are gathered beside the input gradient.
TEST(CollectiveMatmul, TheThirdGatherRunsBesideTheInputGradient) {
    const StepProgram program = build_step(own_keys(), four_tensor_ways(false));
    const auto lines = edges(program, "backward", "gather mlp input", "gate_up weight gradient");
    EXPECT_EQ(lines.front(), "gather mlp input: down weight gradient,");
    EXPECT_EQ(lines[1], "gate_up input gradient 1/4: down weight gradient,");
    EXPECT_EQ(lines.back(),
              "gate_up weight gradient: gather mlp input, scatter gate_up input gradient step 1, "
              "gate_up input gradient 4/4,");
}

}  // namespace
}  // namespace podsim::workloads
