// Weights in several groups a layer: the contents of a group, its gather and its lifetime.
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/models/weights.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::find_op;
using samples::Random;
using ::testing::Contains;
using ::testing::ElementsAre;

constexpr WeightGroups kFiner[] = {WeightGroups::block, WeightGroups::matmul};

TEST(LayerWeights, AddUpToTheLayer) {
    const auto expect_equal = [](const ModelSpec& model) {
        for (const auto& [kind, layers] : layer_kinds(model)) {
            const LayerParameters counted = count_layer(model, kind);
            const Weights total = layer_weights(model, kind).total();
            EXPECT_EQ(total.dense, static_cast<double>(counted.total() - counted.experts));
            EXPECT_EQ(total.experts, static_cast<double>(counted.experts));
        }
    };
    for (const ModelSpec& model : model_catalogue()) {
        SCOPED_TRACE(model.name);
        expect_equal(model);
    }
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model = samples::random_any_model(random);
        model.out_bias = random.coin();
        model.mlp_bias = model.experts.count == 0 && random.coin();
        model.norm = random.coin() ? Norm::layer : Norm::rms;
        model.experts.router_bias = model.experts.count > 0 && random.coin();
        expect_equal(model);
    }
}

// D = 16, F = 32 gated, N = 4, K = 2, H = 4: queries have 16, keys and values 8 columns each; a
// norm of 16 is before each block.
TEST(LayerWeights, ByHand) {
    const LayerWeights layer = layer_weights(samples::one_layer(), {});
    EXPECT_EQ(layer.of(Matrix::qkv).dense, 16 * (16 + 8 + 8) + 16);
    EXPECT_EQ(layer.of(Matrix::out).dense, 16 * 16);
    EXPECT_EQ(layer.of(Matrix::gate_up).dense, 2 * 16 * 32 + 16);
    EXPECT_EQ(layer.of(Matrix::down).dense, 32 * 16);
    EXPECT_EQ(layer.of_group(WeightGroups::block, 0).dense, 16 * 32 + 16 + 16 * 16);
    EXPECT_FALSE(layer.has(Matrix::router));
}

/// Returns a plan with every kind of gather and reduction before layers.
TrainingPlan random_sharded_plan(Random& random, const ModelSpec& model) {
    TrainingPlan plan = samples::random_any_plan(random, true, model);
    plan.ways.fsdp = std::max(plan.ways.fsdp, 2);
    plan.batch.tokens = plan.batch.sequence * plan.ways.data * plan.ways.fsdp * plan.ways.expert;
    plan.batch.microbatches = random.from(1, 2);
    plan.batch.tokens *= plan.batch.microbatches;
    plan.zero = plan.ways.data > 1 ? random.from(0, 2) : 0;
    samples::name_tensors(random, model, plan);
    return plan;
}

// The same arrays move in other pieces: the sums of V by layer,
// pass and purpose differ only in the order of addition.
TEST(WeightGroups, BytesAreThoseOfWholeLayers) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan plan = random_sharded_plan(random, model);
        const StepProgram whole = build_step(model, plan);
        const std::vector<CollectiveBytes> expected = collective_bytes(whole);
        for (const WeightGroups groups : kFiner) {
            plan.overlap.weights = groups;
            plan.overlap.layer_loop = random.coin();
            const StepProgram program = build_step(model, plan);
            EXPECT_EQ(flops_by_pass(program).total(), flops_by_pass(whole).total());
            const std::vector<CollectiveBytes> found = collective_bytes(program);
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_EQ(found[i].layer, expected[i].layer);
                EXPECT_EQ(found[i].pass, expected[i].pass);
                EXPECT_EQ(found[i].purpose, expected[i].purpose);
                EXPECT_NEAR(found[i].bytes / expected[i].bytes, 1, 1e-12);
            }
        }
    }
}

/// Returns all operations that end before an operation begins.
std::set<OpIndex> before(const StepProgram& program, OpIndex op) {
    std::set<OpIndex> found;
    std::vector<OpIndex> open{op};
    while (!open.empty()) {
        const OpIndex next = open.back();
        open.pop_back();
        for (const OpIndex after : program.ops[next].after) {
            if (found.insert(after).second) {
                open.push_back(after);
            }
        }
    }
    return found;
}

/// Returns the matrix that an operation reads, from its name:
/// `gate_up`, `experts down 2/4`, `out input gradient`.
std::string matrix_read(const Op& op, const std::string& part) {
    const std::string start = part + ' ' + std::string(to_string(op.pass)) + ' ';
    std::string what = op.name.starts_with(start) ? op.name.substr(start.size()) : std::string();
    if (const std::size_t slash = what.find('/'); slash != std::string::npos) {
        what = what.substr(0, what.rfind(' ', slash));
    }
    if (what.ends_with(" input gradient")) {
        what.resize(what.size() - std::string(" input gradient").size());
    }
    if (what.starts_with("experts ")) {
        what = what.substr(std::string("experts ").size());
    }
    return std::ranges::any_of(kMatrices, [&](Matrix matrix) { return to_string(matrix) == what; })
               ? what
               : std::string();
}

// Each matmul waits for the gather of its matrix, which is held at least until then.
TEST(WeightGroups, EveryMatmulFindsItsMatrixGathered) {
    int readers = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan plan = random_sharded_plan(random, model);
        plan.batch.microbatches = 1;
        plan.overlap.weights = WeightGroups::matmul;
        plan.overlap.prefetch_layers = 0.25 * random.from(0, 8);
        plan.overlap.layer_loop = random.coin();
        const StepProgram program = build_step(model, plan);
        for (OpIndex i = 0; i < program.ops.size(); ++i) {
            const Op& op = program.ops[i];
            const std::string part = "layer " + std::to_string(op.layer);
            const std::string matrix = matrix_read(op, part);
            if (!std::holds_alternative<Compute>(op.work) || matrix.empty()) {
                continue;
            }
            ++readers;
            const bool routed =
                op.name.find("experts ") != std::string::npos && plan.ways.expert > 1;
            const OpIndex gather = find_op(
                program, part + (op.pass == Pass::forward ? " forward" : " backward") + " gather " +
                             matrix + (routed ? " expert weights" : " weights"));
            EXPECT_THAT(before(program, i), Contains(gather)) << op.name;
            const auto held = std::ranges::find(program.buffers, gather, &Buffer::allocated_at);
            ASSERT_NE(held, program.buffers.end());
            EXPECT_EQ(held->memory_class, MemoryClass::gathered_weights);
            EXPECT_GE(*std::ranges::max_element(held->freed_after), i) << op.name;
        }
    }
    EXPECT_GT(readers, 1000);
}

/// Four layers over fsdp = 2; layer i is use i + 1, the embedding use 0.
struct Four {
    explicit Four(WeightGroups groups, double prefetch, RematPolicy remat = RematPolicy::none) {
        model.layers = 4;
        plan = samples::one_chip();
        plan.ways.fsdp = 2;
        plan.batch.tokens = 64;
        plan.remat.policy = remat;
        plan.overlap.weights = groups;
        plan.overlap.prefetch_layers = prefetch;
    }
    [[nodiscard]] std::vector<std::string> after(const std::string& name) const {
        const StepProgram program = build_step(model, plan);
        std::vector<std::string> names;
        for (const OpIndex op : program.ops[find_op(program, name)].after) {
            names.push_back(program.ops[op].name);
        }
        return names;
    }
    ModelSpec model = samples::one_layer();
    TrainingPlan plan;
};

// Forward, a layer has four stretches: qkv at u, out
// at u + 1/4, gate_up at u + 1/2, down at u + 3/4.
TEST(WeightGroups, GathersRunAheadByPartsOfALayer) {
    const auto waits_for = [](double prefetch, const std::string& gather) {
        return Four(WeightGroups::matmul, prefetch).after("layer 2 forward gather " + gather);
    };
    // gate_up is at 3.5: with 1 ahead it is gathered from
    // 2.5 on, after the operation before layer 1's gate_up.
    EXPECT_THAT(waits_for(0, "gate_up weights"), ElementsAre("layer 2 forward out"));
    EXPECT_THAT(waits_for(0.25, "gate_up weights"), ElementsAre("layer 2 forward attention"));
    EXPECT_THAT(waits_for(0.5, "gate_up weights"), ElementsAre("layer 1 forward down"));
    EXPECT_THAT(waits_for(0.75, "gate_up weights"), ElementsAre("layer 1 forward gate_up"));
    EXPECT_THAT(waits_for(1, "gate_up weights"), ElementsAre("layer 1 forward out"));
    EXPECT_THAT(waits_for(1, "qkv weights"), ElementsAre("layer 0 forward down"));
    // With two stretches, a quarter ahead is less than one of them.
    EXPECT_THAT(Four(WeightGroups::block, 0.25).after("layer 2 forward gather mlp weights"),
                ElementsAre("layer 2 forward out"));
    EXPECT_THAT(Four(WeightGroups::block, 0.5).after("layer 2 forward gather mlp weights"),
                ElementsAre("layer 1 forward down"));
}

TEST(WeightGroups, EachIsReducedAfterItsLastGradient) {
    const Four four(WeightGroups::matmul, 1);
    for (const std::string matrix : {"down", "gate_up", "out", "qkv"}) {
        EXPECT_THAT(four.after("layer 2 backward reduce-scatter " + matrix + " gradients"),
                    ElementsAre("layer 2 backward " + matrix + " weight gradient"));
    }
    // One reduction may be pending while the next gradient is written.
    EXPECT_THAT(four.after("layer 2 backward out weight gradient"),
                Contains("layer 2 backward reduce-scatter down gradients"));
    EXPECT_THAT(Four(WeightGroups::block, 1).after("layer 2 backward reduce-scatter mlp gradients"),
                ElementsAre("layer 2 backward gate_up weight gradient"));
}

TEST(WeightGroups, ALoopOfLayersEndsWithItsReductionsAndBeginsWithItsGathers) {
    Four four(WeightGroups::block, 1);
    four.plan.overlap.layer_loop = true;
    for (const std::string block : {"attention", "mlp"}) {
        EXPECT_THAT(four.after("layer 2 forward gather " + block + " weights"),
                    ElementsAre("layer 1 forward down"));
        EXPECT_THAT(four.after("layer 1 backward gather " + block + " weights"),
                    ElementsAre("layer 2 backward reduce-scatter mlp gradients",
                                "layer 2 backward qkv weight gradient",
                                "layer 2 backward reduce-scatter attention gradients"));
    }
    EXPECT_THAT(four.after("layer 1 backward down input gradient"),
                Contains("layer 2 backward reduce-scatter attention gradients"));
}

// D = 4, F = 8 (plain), N = K = 1, H = 4: in 2-byte elements
//   qkv 48 and a norm of 4: 104   out 16: 32   gate_up 32 and a norm: 72   down 32: 64
//   together 272
TEST(WeightGroups, HeldByStretches) {
    ModelSpec model{.name = "tiny",
                    .source = "this test",
                    .layers = 8,
                    .d_model = 4,
                    .d_ff = 8,
                    .heads = 1,
                    .kv_heads = 1,
                    .head_dim = 4,
                    .vocabulary = 16,
                    .gated_mlp = false};
    TrainingPlan plan;
    plan.batch.tokens = 16;
    plan.batch.sequence = 8;
    plan.ways.fsdp = 2;
    plan.overlap.weights = WeightGroups::matmul;
    const auto held = [&](double prefetch, const std::string& name) {
        plan.overlap.prefetch_layers = prefetch;
        const StepProgram program = build_step(model, plan);
        return samples::held_at(program, "layer 4 " + name, MemoryClass::gathered_weights);
    };
    // Forward, the weights in use and those within the
    // prefetch are held; they are freed behind the matmul.
    EXPECT_EQ(held(0, "forward qkv"), 104);
    EXPECT_EQ(held(0, "forward attention"), 0);
    EXPECT_EQ(held(0.5, "forward qkv"), 104 + 32 + 72);
    EXPECT_EQ(held(0.5, "forward attention"), 32 + 72);
    EXPECT_EQ(held(0.5, "forward gate_up"), 72 + 64 + 104);
    EXPECT_EQ(held(1, "forward gate_up"), 72 + 64 + 104 + 32 + 72);
    // Backward, all weights are gathered once, in the order of recomputation, and freed in reverse:
    // seven stretches, the last of which is qkv's. The layer before it begins with its qkv.
    EXPECT_EQ(held(0, "recompute out"), 104 + 32);
    EXPECT_EQ(held(0, "backward down input gradient"), 272);
    EXPECT_EQ(held(0, "backward down weight gradient"), 272 - 64);
    EXPECT_EQ(held(0, "backward qkv weight gradient"), 0);
    EXPECT_EQ(held(0.25, "backward qkv weight gradient"), 104);
    plan.overlap.weights = WeightGroups::layer;
    EXPECT_EQ(held(0, "forward qkv"), 272);
    EXPECT_EQ(held(1, "forward qkv"), 2 * 272);
}

// The largest prefetch in quarters of a layer whose peak fits equals that found by trying all.
TEST(WeightGroups, APartOfALayerMayFitAhead) {
    Four four(WeightGroups::matmul, 3, RematPolicy::block);
    four.model.layers = 8;
    four.model.d_ff = 256;  // weights decide
    four.plan.batch.tokens = four.plan.batch.sequence = 4;
    four.plan.batch.tokens *= 2;
    std::vector<sim::Bytes> peaks;  // at 0, 1/4, ... 3
    for (int quarters = 0; quarters <= 12; ++quarters) {
        TrainingPlan plan = four.plan;
        plan.overlap.prefetch_layers = 0.25 * quarters;
        peaks.push_back(peak_in_program_order(build_step(four.model, plan)).total);
    }
    ASSERT_TRUE(std::ranges::is_sorted(peaks));
    int parts = 0;
    for (const sim::Bytes peak : peaks) {
        for (const sim::Bytes capacity : {peak, peak - sim::Bytes(1)}) {
            const auto fitting =
                std::ranges::count_if(peaks, [&](sim::Bytes other) { return other <= capacity; });
            const double expected =
                0.25 * static_cast<double>(std::max<std::ptrdiff_t>(fitting, 1) - 1);
            EXPECT_EQ(prefetch_that_fits(four.model, four.plan, capacity), expected);
            parts += expected != std::floor(expected) ? 1 : 0;
        }
    }
    EXPECT_GT(parts, 4);
    four.plan.overlap.weights = WeightGroups::layer;
    four.plan.overlap.prefetch_layers = 2;
    const sim::Bytes two = peak_in_program_order(build_step(four.model, four.plan)).total;
    EXPECT_EQ(prefetch_that_fits(four.model, four.plan, two), 2);
    EXPECT_EQ(prefetch_that_fits(four.model, four.plan, two - sim::Bytes(1)), 1);
}

TEST(WeightGroups, PartsOfALayerNeedGroups) {
    TrainingPlan plan = samples::one_chip();
    plan.overlap.prefetch_layers = 0.5;
    EXPECT_EQ(samples::message_of([&] { validate(plan, samples::one_layer()); }),
              "prefetch_layers = 0.5 of weights that are gathered by whole layers; write a whole "
              "number, or gather them by block or matmul");
    plan.overlap.weights = WeightGroups::block;
    EXPECT_NO_THROW(validate(plan, samples::one_layer()));
}

}  // namespace
}  // namespace podsim::workloads
