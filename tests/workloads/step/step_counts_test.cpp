// FLOPs and bytes of whole steps against the formulas of the reference text.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::compute_of;
using samples::find_op;
using samples::one_chip;
using samples::one_layer;
using samples::Random;
using ::testing::Contains;
using ::testing::Not;

// The step executes 6 x active matmul parameters x tokens + attention, exactly, for every structure
// of layers. An untied embedding is looked up (no FLOPs) and norms execute none, so `6 x
// parameters` counts 6 (V D + norms) more a token than are executed; a tied table is multiplied
// once, as the unembedding.
TEST(Step, FlopsAreSixTimesMatmulParametersPlusAttention) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan plan = samples::random_any_plan(random, false, model);
        model.experts.shared_gate = model.experts.shared > 0 && seed % 2 == 0;
        plan.remat.policy = RematPolicy::none;
        if (model.window > 0) {
            // With more, chips that see fewer keys count as the fullest.
            plan.ways.context = 1;
        }
        const StepProgram program = build_step(model, plan);
        const ParameterCount count = count_parameters(model);
        // A further token adds a layer like the last, a projection 2 D x D, and logits once more.
        const std::int64_t matmul =
            count.layers_matmul + count.embedding +
            model.mtp_layers *
                (count_layer(model, layer_kind(model, model.layers - 1)).matmul() +
                 2 * model.d_model * model.d_model + model.vocabulary * model.d_model);
        // A sequence has 6 N (H + Hv) for each pair, with all halves whole.
        std::int64_t attention = 0;
        for (std::int64_t layer = 0; layer < model.layers + model.mtp_layers; ++layer) {
            const std::int64_t seen = layer_kind(model, layer).local
                                          ? std::min(model.window, plan.batch.sequence)
                                          : plan.batch.sequence;
            const std::int64_t twice =
                2 * plan.batch.sequence * seen - (plan.attention.causal ? seen * seen : 0);
            const AttentionSizes sizes = attention_sizes(model, layer_kind(model, layer));
            attention += 3 * model.heads * (sizes.head_dim + sizes.value_dim) * twice;
        }
        const auto executed = static_cast<double>(
            6 * plan.batch.tokens * matmul + plan.batch.tokens / plan.batch.sequence * attention);
        EXPECT_EQ(flops_by_pass(program).total().value() * plan.ways.chips(), executed);
        // MFU counts exactly these; with all parameters also
        // the embedding's lookup, the norms and the biases.
        const std::int64_t uncounted = count.active - matmul;
        const StepFlops flops = step_flops(model, plan, mean_recomputed(model, plan, program));
        EXPECT_NEAR(flops.model.value() / executed, 1, 1e-14);
        EXPECT_EQ(flops.hardware.value(), flops.model.value());
        const StepFlops with_all =
            step_flops(model, plan, sim::Flops(0), FlopRule::masked_attention);
        EXPECT_NEAR(with_all.model.value() /
                        (executed + static_cast<double>(6 * plan.batch.tokens * uncounted)),
                    1, 1e-14);
    }
}

// The same holds for the models of the catalogue: 6 x parameters x tokens plus attention, except
// the lookup and the norms.
TEST(Step, FlopsOfEveryModelOfTheCatalogue) {
    for (const ModelSpec& model : model_catalogue()) {
        SCOPED_TRACE(model.name);
        TrainingPlan plan;
        plan.batch.sequence = 4096;
        plan.batch.tokens = 8 * plan.batch.sequence;
        plan.remat.policy = RematPolicy::none;
        plan.ways.fsdp = 8;
        const ParameterCount count = count_parameters(model);
        double attention = 0;  // 6 N (H + Hv) for each pair of a sequence
        for (const auto& [kind, layers] : layer_kinds(model)) {
            const AttentionSizes sizes = attention_sizes(model, kind);
            attention +=
                static_cast<double>(layers * 6 * model.heads * (sizes.head_dim + sizes.value_dim)) *
                attention_pairs(model, kind, 4096, true);
        }
        const std::int64_t matmul = count.layers_matmul + count.embedding;
        const double executed = static_cast<double>(6 * plan.batch.tokens * matmul) + 8 * attention;
        EXPECT_DOUBLE_EQ(flops_by_pass(build_step(model, plan)).total().value() * 8, executed);
    }
}

TEST(Step, BackwardIsTwiceForwardAndRematBlockAddsOneForwardOfTheLayers) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        plan.remat.policy = RematPolicy::block;
        if (model.window > 0) {
            // With more, the program is that of the fullest chip.
            plan.ways.context = 1;
        }
        const StepProgram program = build_step(model, plan);
        const PassFlops flops = flops_by_pass(program);
        EXPECT_EQ(flops.of(Pass::backward), flops.of(Pass::forward) * 2);
        const double logits = compute_of(program, "unembedding forward logits").flops.value();
        EXPECT_EQ(flops.of(Pass::recompute).value(), flops.of(Pass::forward).value() - logits);
        EXPECT_EQ(flops.of(Pass::optimizer).value(), 0);
        const StepFlops step = step_flops(model, plan, mean_recomputed(model, plan, program));
        EXPECT_DOUBLE_EQ((step.hardware - step.model).value(),
                         flops.of(Pass::recompute).value() * plan.ways.chips() *
                             occupancy(plan.batch, plan.ways).occupied);
    }
}

// Six heads with tensor of 4 are computed as eight. The two padded heads do not count among the
// model's FLOPs that are executed twice.
TEST(Step, PaddedHeadsAreNotRecomputed) {
    ModelSpec model = samples::one_layer();
    model.heads = model.kv_heads = 6;
    TrainingPlan plan = samples::one_chip();
    plan.remat.policy = RematPolicy::block;
    const sim::Flops whole = mean_recomputed(model, plan, build_stages(model, plan));
    plan.ways.tensor = 4;
    const StepPrograms programs = build_stages(model, plan);
    EXPECT_DOUBLE_EQ(mean_recomputed(model, plan, programs).value() * 4, whole.value());
    EXPECT_GT(flops_by_pass(programs.programs.front()).of(Pass::recompute).value() * 4,
              whole.value());
}

/// Returns the sum of V of a layer's collectives (AllReduce twice), in bytes.
double bytes_moved(const StepProgram& program, int layer, Pass pass, Purpose purpose) {
    for (const CollectiveBytes& row : collective_bytes(program)) {
        if (row.layer == layer && row.pass == pass && row.purpose == purpose) {
            return row.bytes.value();
        }
    }
    return 0;
}

// The figures are the table `strategies` of the reference text (section 5), with 2-byte elements.
// The 2 D F parameters of its two-matmul block are generalised to the layer's P, and its tensor
// terms count once for each of a layer's two blocks: data 0 + 4P, fsdp 2P + 4P, tensor 4BD + 4BD (+
// 2BD), fsdp and tensor 4BD/X + 2P/Y, ...
TEST(Step, StrategyBytesAreThoseOfTheReferenceText) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model(random);
        TrainingPlan plan = samples::random_plan(random, false);
        plan.remat.policy = random.coin() ? RematPolicy::none : RematPolicy::block;
        const StepProgram program = build_step(model, plan);
        const double x = plan.ways.fsdp * plan.ways.context;
        const double y = plan.ways.tensor;
        const double weights = static_cast<double>(count_layer(model, {}).total()) / y;
        const double rows =
            static_cast<double>(plan.batch.tokens * model.d_model) / (plan.ways.data * x);
        const double kv =
            static_cast<double>(plan.batch.tokens * 2 * model.kv_heads * model.head_dim) /
            (plan.ways.data * plan.ways.fsdp) / y;
        const auto bytes = [&](Pass pass, Purpose purpose) {
            return bytes_moved(program, 0, pass, purpose);
        };
        const bool again = plan.remat.policy == RematPolicy::block;

        EXPECT_EQ(bytes(Pass::forward, Purpose::weights), x > 1 ? 2 * weights : 0);
        EXPECT_EQ(bytes(Pass::backward, Purpose::weights), x > 1 ? 2 * weights : 0);
        EXPECT_EQ(bytes(Pass::forward, Purpose::gradients), 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::backward, Purpose::gradients),
                         (x > 1 ? 2 * weights : 0) + (plan.ways.data > 1 ? 4 * weights / x : 0));
        EXPECT_DOUBLE_EQ(bytes(Pass::forward, Purpose::tensor), y > 1 ? 2 * 4 * rows : 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::recompute, Purpose::tensor),
                         y > 1 && again ? 2 * 4 * rows : 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::backward, Purpose::tensor),
                         y > 1 ? 2 * (again ? 4 : 6) * rows : 0);
        // Keys and values are gathered forward, gathered once more
        // for the backward pass, and their gradient is reduced.
        EXPECT_DOUBLE_EQ(bytes(Pass::forward, Purpose::context),
                         plan.ways.context > 1 ? 2 * kv : 0);
        EXPECT_DOUBLE_EQ(
            bytes(Pass::recompute, Purpose::context) + bytes(Pass::backward, Purpose::context),
            plan.ways.context > 1 ? 2 * 2 * kv : 0);
    }
}

TEST(Step, EveryGroupIsGatheredAndReducedInFull) {
    ModelSpec model = one_layer();
    TrainingPlan plan = one_chip();
    plan.ways.fsdp = 2;
    plan.batch.tokens = 64;
    const auto total = static_cast<double>(count_parameters(model).total);
    for (const bool tied : {false, true}) {
        model.tied_embeddings = tied;
        double gathered = 0;
        double reduced = 0;
        for (const CollectiveBytes& row : collective_bytes(build_step(model, plan))) {
            (row.purpose == Purpose::weights ? gathered : reduced) += row.bytes.value();
        }
        const ParameterCount count = count_parameters(model);
        EXPECT_EQ(reduced, 2.0 * static_cast<double>(count.total));
        // Layers are gathered twice; a tied table is gathered
        // twice too, once as each half of an untied pair.
        EXPECT_EQ(gathered, 2.0 * (total + static_cast<double>(count.layers)));
    }
}

TEST(Step, ATiedTableIsReducedOnce) {
    ModelSpec model = one_layer();
    model.tied_embeddings = true;
    TrainingPlan plan = one_chip();
    plan.ways.fsdp = 2;
    plan.batch.tokens = 64;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(samples::names(program),
                Not(Contains("unembedding backward reduce-scatter gradients")));
    const OpIndex scatter = find_op(program, "embedding backward reduce-scatter gradients");
    EXPECT_EQ(std::get<Collective>(program.ops[scatter].work).bytes.value(), (64 * 16 + 16) * 2);
}

}  // namespace
}  // namespace podsim::workloads
