#include "workloads/program/memory_peak.h"

#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::held_at;
using samples::Random;

// D = 4, F = 8 (plain), N = K = 1, H = 4, V = 16: a layer has 64 + 64 + 8 = 136 parameters, each
// table 64, the final norm 4, together 268.
ModelSpec small_dense() {
    return {.name = "tiny",
            .source = "this test",
            .layers = 1,
            .d_model = 4,
            .d_ff = 8,
            .heads = 1,
            .kv_heads = 1,
            .head_dim = 4,
            .vocabulary = 16,
            .gated_mlp = false};
}

// One chip, 8 tokens, block remat. The peak is at the down projection's weight gradient:
//   parameters 268 x 2 = 536, Adam 268 x 8 = 2144, gradients (68 + 136) x 2 = 408
//   activations: the layer's input, 8 x 4 x 2 = 64
//   buffers: normed inputs 64 + 64, qkv 8 x 12 x 2 = 192, attention 64, middle 64, up 128,
//   hidden 128, the gradient of the residual stream 64, that of up 128: 896
TEST(Memory, PeakByHand) {
    TrainingPlan plan;
    plan.batch.tokens = plan.batch.sequence = 8;
    plan.remat.policy = RematPolicy::block;
    const StepProgram program = build_step(small_dense(), plan);
    const MemoryPeak peak = peak_in_program_order(program);
    EXPECT_EQ(program.ops[peak.at].name, "layer 0 backward down weight gradient");
    EXPECT_EQ(peak.of(MemoryClass::parameters).value(), 536);
    EXPECT_EQ(peak.of(MemoryClass::optimizer).value(), 2144);
    EXPECT_EQ(peak.of(MemoryClass::gradients).value(), 408);
    EXPECT_EQ(peak.of(MemoryClass::activations).value(), 64);
    EXPECT_EQ(peak.of(MemoryClass::gathered_weights).value(), 0);
    EXPECT_EQ(peak.of(MemoryClass::buffers).value(), 896);
    EXPECT_EQ(peak.total.value(), 536 + 2144 + 408 + 64 + 896);
}

// Saved bytes of a layer by policy, for t = 8 tokens over
// tensor = 2 (r = 4), in 2-byte elements; layer.h lists them.
TEST(Memory, SavedActivationsByRemat) {
    ModelSpec model = small_dense();
    model.heads = 4;
    model.kv_heads = 2;
    model.gated_mlp = true;
    model.layers = 3;
    TrainingPlan plan;
    plan.batch.tokens = plan.batch.sequence = 8;
    plan.ways.tensor = 2;
    const auto saved = [&](RematPolicy remat) {
        plan.remat.policy = remat;
        return held_at(build_step(model, plan), "unembedding forward loss",
                       MemoryClass::activations) /
               3;
    };
    const double row = 4 * 4 * 2;                // r D
    const double qkv = 8 * (2 + 2 * 1) * 4 * 2;  // t (N + 2 K) H / T
    const double gate_up = 2 * 8 * 4 * 2;        // g t F / T
    const double attended = 8 * 2 * 4 * 2;       // t N H / T
    const double hidden = 8 * 4 * 2;             // t F / T
    EXPECT_EQ(saved(RematPolicy::block), row);
    EXPECT_EQ(saved(RematPolicy::named), row);  // full
    // The MLP's output, which no backward operation reads, is not among them.
    EXPECT_EQ(saved(RematPolicy::matmuls), 2 * row + qkv + gate_up);
    EXPECT_EQ(saved(RematPolicy::none), 4 * row + qkv + gate_up + attended + hidden);
    model.norms = 4;  // its norm reads it
    EXPECT_EQ(saved(RematPolicy::named), row);
    EXPECT_EQ(saved(RematPolicy::matmuls), 3 * row + qkv + gate_up);
    EXPECT_EQ(saved(RematPolicy::none), 5 * row + qkv + gate_up + attended + hidden);
}

TEST(Memory, NothingButStateOutlivesTheBackwardPass) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        const TrainingPlan plan = samples::random_any_plan(random, true, model);
        const StepProgram program = build_step(model, plan);
        for (const MemoryClass transient :
             {MemoryClass::activations, MemoryClass::buffers, MemoryClass::gathered_weights}) {
            EXPECT_EQ(held_at(program, "optimizer update", transient), 0);
        }
        // Only sharded gradients remain: all parameters over tensor x fsdp x context, rounded up to
        // whole bytes in each of the reduced groups.
        const double shard =
            static_cast<double>(count_parameters(model).total) * 2 /
            (plan.ways.tensor * plan.ways.fsdp * plan.ways.context * plan.ways.expert);
        const double gradients = held_at(program, "optimizer update", MemoryClass::gradients);
        EXPECT_GE(gradients, shard - 1e-6);
        EXPECT_LE(gradients, shard + 2 * static_cast<double>(model.layers) + 2);
    }
}

TEST(Memory, PrefetchPlusOneGatheredBuffersAreAlive) {
    ModelSpec model = small_dense();
    model.layers = 8;
    TrainingPlan plan;
    plan.batch.tokens = 16;
    plan.batch.sequence = 8;
    plan.ways.fsdp = 2;
    for (const int prefetch : {0, 1, 3}) {
        plan.overlap.prefetch_layers = prefetch;
        const StepProgram program = build_step(model, plan);
        for (const char* name :
             {"layer 4 forward attention", "layer 4 backward out weight gradient"}) {
            EXPECT_EQ(held_at(program, name, MemoryClass::gathered_weights),
                      (prefetch + 1) * 136 * 2.0)
                << prefetch << ' ' << name;
        }
    }
}

TEST(Memory, ThePrefetchIsTheLargestThatFits) {
    ModelSpec model = small_dense();
    model.layers = 8;
    TrainingPlan plan;
    plan.batch.tokens = 16;
    plan.batch.sequence = 8;
    plan.ways.fsdp = 2;
    const auto peak = [&](int prefetch) {
        TrainingPlan trial = plan;
        trial.overlap.prefetch_layers = prefetch;
        return peak_in_program_order(build_step(model, trial)).total;
    };
    plan.overlap.prefetch_layers = 5;
    EXPECT_LT(peak(2), peak(3));
    EXPECT_EQ(prefetch_that_fits(model, plan, peak(5)), 5);
    EXPECT_EQ(prefetch_that_fits(model, plan, peak(2)), 2);
    EXPECT_EQ(prefetch_that_fits(model, plan, peak(3) - sim::Bytes(1)), 2);
    EXPECT_EQ(prefetch_that_fits(model, plan, sim::Bytes(1)), 0);
    plan.overlap.prefetch_layers = 1 << 20;
    EXPECT_EQ(prefetch_that_fits(model, plan, sim::Bytes::infinity()), 2 * 8 + 2);
    for (const sim::Bytes capacity :
         {sim::Bytes(1), peak(2), peak(3) - sim::Bytes(1), peak(3), sim::Bytes::infinity()}) {
        TrainingPlan lowered = plan;
        const StepPrograms built = build_stages_that_fit(model, lowered, capacity);
        EXPECT_EQ(lowered.overlap.prefetch_layers, prefetch_that_fits(model, plan, capacity));
        EXPECT_EQ(peak_in_program_order(built.programs.at(0)).total,
                  peak_in_program_order(build_step(model, lowered)).total);
    }
}

TEST(Memory, TheQuickStartFits) {
    TrainingPlan plan;
    plan.batch.tokens = 4 << 20;
    plan.batch.sequence = 4096;
    plan.ways.fsdp = 1120;
    plan.ways.context = 2;
    plan.ways.tensor = 4;
    const MemoryPeak peak = peak_in_program_order(build_step(find_model("llama-3-70b"), plan));
    EXPECT_LT(peak.total.value(), 96e9);
    // 70.55e9 parameters have 8 bytes of Adam's moments over 8960 chips.
    EXPECT_NEAR(peak.of(MemoryClass::optimizer).value(), 70'553'706'496.0 * 8 / 8960, 1);
}

}  // namespace
}  // namespace podsim::workloads
