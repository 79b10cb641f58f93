#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/workloads/support.h"
#include "workloads/accounting.h"
#include "workloads/plan.h"

namespace podsim::workloads {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::find_op;
using ::testing::Not;
using testing::Random;

ModelSpec one_layer() {
    return {.name = "one layer",
            .source = "this test",
            .layers = 1,
            .d_model = 16,
            .d_ff = 32,
            .heads = 4,
            .kv_heads = 2,
            .head_dim = 4,
            .vocabulary = 64};
}

TrainingPlan one_chip() {
    TrainingPlan plan;
    plan.tokens = plan.sequence = 32;
    plan.remat = Remat::none;
    return plan;
}

const Compute& compute_of(const StepProgram& program, const std::string& name) {
    return std::get<Compute>(program.ops[find_op(program, name)].work);
}

TEST(Step, OneChipRunsTheBareSequence) {
    EXPECT_THAT(
        testing::names(build_step(one_layer(), one_chip())),
        ElementsAre("embedding forward lookup", "layer 0 forward qkv", "layer 0 forward attention",
                    "layer 0 forward out", "layer 0 forward gate_up", "layer 0 forward down",
                    "unembedding forward logits", "unembedding forward loss",
                    "unembedding backward input gradient", "unembedding backward weight gradient",
                    "layer 0 backward down input gradient", "layer 0 backward down weight gradient",
                    "layer 0 backward gate_up input gradient",
                    "layer 0 backward gate_up weight gradient",
                    "layer 0 backward out input gradient", "layer 0 backward out weight gradient",
                    "layer 0 backward attention gradient", "layer 0 backward qkv input gradient",
                    "layer 0 backward qkv weight gradient",
                    "embedding backward scatter-add gradient", "optimizer update"));
}

TEST(Step, TensorAndContextCollectivesStandInProgramOrder) {
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    plan.context = 2;
    plan.prefetch_layers = 0;
    const StepProgram program = build_step(one_layer(), plan);
    std::vector<std::string> layer;
    for (const Op& op : program.ops) {
        if (op.layer == 0) {
            layer.push_back(op.name.substr(std::string("layer 0 ").size()));
        }
    }
    EXPECT_THAT(
        layer,
        ElementsAre("forward gather weights", "forward gather attention input", "forward qkv",
                    "forward gather keys and values", "forward attention", "forward out",
                    "forward scatter attention output", "forward gather mlp input",
                    "forward gate_up", "forward down", "forward scatter mlp output",
                    "backward gather weights", "backward gather mlp output gradient",
                    "backward down input gradient", "backward down weight gradient",
                    "backward gather mlp input", "backward gate_up input gradient",
                    "backward scatter mlp input gradient", "backward gate_up weight gradient",
                    "backward gather attention output gradient", "backward out input gradient",
                    "backward out weight gradient", "backward gather keys and values",
                    "backward attention gradient", "backward scatter key and value gradient",
                    "backward gather attention input", "backward qkv input gradient",
                    "backward scatter attention input gradient", "backward qkv weight gradient",
                    "backward reduce-scatter gradients"));
}

TEST(Step, RematBlockRunsTheForwardAgainAndNeedsNoThirdGather) {
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    plan.context = 2;
    plan.remat = Remat::block;
    const std::vector<std::string> names = testing::names(build_step(one_layer(), plan));
    for (const char* what : {"gather attention input", "qkv", "gather keys and values", "attention",
                             "out", "scatter attention output", "gather mlp input", "gate_up",
                             "down", "scatter mlp output"}) {
        EXPECT_THAT(names, Contains("layer 0 recompute " + std::string(what)).Times(1));
    }
    for (const char* what :
         {"gather attention input", "gather keys and values", "gather mlp input"}) {
        EXPECT_THAT(names, Not(Contains("layer 0 backward " + std::string(what))));
    }
    EXPECT_THAT(names, Not(Contains(::testing::HasSubstr("unembedding recompute"))));
}

/// The operations of layer 0 in one pass, without `layer 0 <pass>`.
std::vector<std::string> of_layer(const StepProgram& program, Pass pass) {
    const std::string before = "layer 0 " + std::string(to_string(pass)) + ' ';
    std::vector<std::string> names;
    for (const Op& op : program.ops) {
        if (op.layer == 0 && op.pass == pass) {
            names.push_back(op.name.substr(before.size()));
        }
    }
    return names;
}

TEST(Step, ParallelBlockGathersAndScattersOnce) {
    ModelSpec model = one_layer();
    model.parallel_block = true;
    model.norms = 1;
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(of_layer(program, Pass::forward),
                ElementsAre("gather layer input", "qkv", "attention", "out", "gate_up", "down",
                            "scatter layer output"));
    EXPECT_THAT(
        of_layer(program, Pass::backward),
        ElementsAre("gather layer output gradient", "down input gradient", "down weight gradient",
                    "gather layer input", "gate_up input gradient", "gate_up weight gradient",
                    "out input gradient", "out weight gradient", "attention gradient",
                    "qkv input gradient", "scatter layer input gradient", "qkv weight gradient"));
}

TEST(Step, LatentAttentionGathersItsLatents) {
    ModelSpec model = one_layer();
    model.kv_heads = 4;
    model.latent = {.q_rank = 8, .kv_rank = 6, .rope_dim = 2, .value_dim = 4};
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(of_layer(program, Pass::forward),
                ElementsAre("gather attention input", "latent", "gather latents", "qkv",
                            "attention", "out", "scatter attention output", "gather mlp input",
                            "gate_up", "down", "scatter mlp output"));
    const auto& gathered =
        std::get<Collective>(program.ops[find_op(program, "layer 0 forward gather latents")].work);
    EXPECT_EQ(gathered.bytes.value(), 32 * (8 + 6 + 2) * 2);
    // One query vector of 8 to N H / T = 8 columns, one of 6 to N (H - rope + value) / T = 12.
    const Compute& up = compute_of(program, "layer 0 forward qkv");
    EXPECT_EQ(up.flops.value(), 2 * 32 * (8 * 8 + 6 * 12));
    EXPECT_EQ(compute_of(program, "layer 0 forward latent").flops.value(), 2 * 32 * 16 * 16 / 2);
    const std::vector<std::string> backward = of_layer(program, Pass::backward);
    EXPECT_THAT(std::vector<std::string>(backward.begin() + 10, backward.end()),
                ElementsAre("attention gradient", "gather attention input", "qkv input gradient",
                            "scatter latent gradient", "gather latents", "qkv weight gradient",
                            "latent input gradient", "scatter attention input gradient",
                            "latent weight gradient"));
}

// One key/value head for two tensor ways: its 2 x 4 columns are split, gathered (t x 8 x 2 bytes), and
// attention reads the one head whole.
TEST(Step, OneKeyValueHeadIsSplitByColumns) {
    ModelSpec model = one_layer();
    model.kv_heads = 1;
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(of_layer(program, Pass::forward), Contains("gather columns of keys and values"));
    EXPECT_THAT(of_layer(program, Pass::backward),
                Contains("scatter columns of key and value gradient"));
    const OpIndex gather = find_op(program, "layer 0 forward gather columns of keys and values");
    EXPECT_EQ(std::get<Collective>(program.ops[gather].work).bytes.value(), 32 * 8 * 2);
    EXPECT_EQ(compute_of(program, "layer 0 forward qkv").flops.value(), 2 * 32 * 16 * (8 + 4));
    EXPECT_EQ(compute_of(program, "layer 0 forward attention").hbm.value(),
              2 * (32 * 8 * 2 + 32 * 8));
}

// S = 32, W = 8: 32 x 8 - 8^2 / 2 = 224 pairs of 4 heads of 4 + 4 columns, two FLOPs each.
TEST(Step, LocalAttentionSeesItsWindow) {
    ModelSpec model = one_layer();
    model.window = 8;
    TrainingPlan plan = one_chip();
    const Compute local = compute_of(build_step(model, plan), "layer 0 forward attention");
    EXPECT_EQ(local.flops.value(), 2 * 4 * 8 * 224);
    EXPECT_EQ(local.matmuls[0].n, 8);
    EXPECT_EQ(local.matmuls[1].k, 8);
    // Two context ways: pieces of 8 queries have 32, 64, 64, 64 pairs. Zig-zag: 96 and 128.
    plan.context = 2;
    EXPECT_EQ(compute_of(build_step(model, plan), "layer 0 forward attention").flops.value(),
              2 * 4 * 8 * 128);
}

ModelSpec with_experts() {
    ModelSpec model = one_layer();
    model.experts = {.count = 8, .per_token = 2, .shared = 1, .d_ff = 4};
    return model;
}

TEST(Step, TokensTravelToTheirExperts) {
    TrainingPlan plan = one_chip();
    plan.expert = 4;
    plan.tensor = 2;
    plan.tokens = 32 * 4;
    const StepProgram program = build_step(with_experts(), plan);
    const std::vector<std::string> forward = of_layer(program, Pass::forward);
    EXPECT_THAT(
        std::vector<std::string>(forward.begin() + 6, forward.end()),
        ElementsAre("router", "gather mlp input", "shared gate_up", "shared down",
                    "scatter shared output", "exchange tokens", "gather tokens", "experts gate_up",
                    "experts down", "scatter expert output", "exchange expert output", "combine"));
    const std::vector<std::string> backward = of_layer(program, Pass::backward);
    EXPECT_THAT(
        std::vector<std::string>(backward.begin(), backward.begin() + 22),
        ElementsAre(
            "gather weights", "gather shared output gradient", "shared down input gradient",
            "shared down weight gradient", "gather mlp input", "shared gate_up input gradient",
            "scatter shared input gradient", "shared gate_up weight gradient", "combine gradient",
            "exchange expert output gradient", "gather expert output gradient",
            "experts down input gradient", "experts down weight gradient", "gather tokens",
            "experts gate_up input gradient", "scatter token gradient", "exchange token gradient",
            "experts gate_up weight gradient", "router input gradient", "router weight gradient",
            "gather attention output gradient", "out input gradient"));
    // Each of 16 rows goes to 2 experts: 16 x 2 x 16 x 2 bytes of each of 4 chips.
    const auto& exchange =
        std::get<Collective>(program.ops[find_op(program, "layer 0 forward exchange tokens")].work);
    EXPECT_EQ(exchange.operation, collectives::Operation::all_to_all);
    EXPECT_EQ(exchange.purpose, Purpose::expert);
    EXPECT_EQ(exchange.bytes.value(), 4 * 1024);
    // 32 x 2 tokens for the 2 experts of a chip, d_ff / T = 2, gated.
    const Compute& experts = compute_of(program, "layer 0 forward experts gate_up");
    EXPECT_EQ(experts.flops.value(), 2 * 64 * 16 * 4);
    ASSERT_EQ(experts.matmuls.size(), 1U);
    EXPECT_EQ(experts.matmuls[0].m, 32);
    EXPECT_EQ(experts.matmuls[0].count, 2);
    EXPECT_EQ(experts.hbm.value(), 2 * (64 * (16 + 4) + 2 * 16 * 4));
    EXPECT_EQ(compute_of(program, "layer 0 forward router").flops.value(), 2 * 16 * 16 * 8);
}

TEST(Step, TheMostLoadedExpertSetsThePace) {
    TrainingPlan plan = one_chip();
    const auto tokens = [&] {
        return compute_of(build_step(with_experts(), plan), "layer 0 forward experts down")
                   .flops.value() /
               (2 * 4 * 16);
    };
    EXPECT_EQ(tokens(), 64);
    plan.capacity_factor = 1.25;
    EXPECT_EQ(tokens(), 80);
    plan.capacity_factor = 1;
    plan.expert_imbalance = 1.5;
    EXPECT_EQ(tokens(), 64);  // one chip has all experts: what one has more another has less
    plan.expert = 2;
    plan.tokens *= 2;
    EXPECT_EQ(tokens(), 96);
    const StepProgram program = build_step(with_experts(), plan);
    const OpIndex exchange = find_op(program, "layer 0 forward exchange tokens");
    EXPECT_EQ(std::get<Collective>(program.ops[exchange].work).bytes.value(), 2 * 96 * 16 * 2);
}

// expert 4, fsdp 2, data 2: all but the routed experts are gathered and reduced over fsdp x expert, the 2
// experts of a chip over fsdp, their gradients' shards over data.
TEST(Step, ExpertWeightsAreReducedWithoutTheExpertAxis) {
    TrainingPlan plan = one_chip();
    plan.expert = 4;
    plan.fsdp = plan.data = 2;
    plan.tokens = 32 * 16;
    const StepProgram program = build_step(with_experts(), plan);
    const LayerParameters count = count_layer(with_experts(), {.experts = true});
    const auto dense = static_cast<double>(count.total() - count.experts);
    const auto held = static_cast<double>(count.experts) / 4;
    const auto collective = [&](const std::string& name) {
        return std::get<Collective>(program.ops[find_op(program, "layer 0 " + name)].work);
    };
    using Axes = std::vector<std::string>;
    EXPECT_EQ(collective("forward gather weights").axes, (Axes{"fsdp", "expert"}));
    EXPECT_EQ(collective("forward gather weights").bytes.value(), 2 * dense);
    EXPECT_EQ(collective("backward gather expert weights").axes, Axes{"fsdp"});
    EXPECT_EQ(collective("backward gather expert weights").bytes.value(), 2 * held);
    EXPECT_EQ(collective("backward reduce-scatter gradients").bytes.value(), 2 * dense);
    EXPECT_EQ(collective("backward reduce-scatter expert gradients").axes, Axes{"fsdp"});
    EXPECT_EQ(collective("backward reduce-scatter expert gradients").bytes.value(), 2 * held);
    EXPECT_EQ(collective("backward all-reduce expert gradients").axes, Axes{"data"});
    EXPECT_EQ(collective("backward all-reduce expert gradients").bytes.value(), held);
    EXPECT_EQ(collective("backward all-reduce gradients").bytes.value(), 2 * dense / 8);
}

TEST(Step, RematMatmulsRunsOnlyAttentionAgain) {
    TrainingPlan plan = one_chip();
    plan.tensor = 2;
    plan.context = 2;
    plan.remat = Remat::matmuls;
    std::vector<std::string> again;
    for (const Op& op : build_step(one_layer(), plan).ops) {
        if (op.pass == Pass::recompute) {
            again.push_back(op.name);
        }
    }
    EXPECT_THAT(again, ElementsAre("layer 0 recompute gather keys and values",
                                   "layer 0 recompute attention"));
}

// 6 x active matmul parameters x tokens + attention, exactly, for every structure of layers. An untied embedding is looked up (no FLOPs)
// and norms execute none, so `6 x parameters` counts 6 (V D + norms) more a token than are
// executed; a tied table is multiplied once, as the unembedding.
TEST(Step, FlopsAreSixTimesMatmulParametersPlusAttention) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = testing::random_any_model(random);
        TrainingPlan plan = testing::random_any_plan(random, false, model);
        plan.remat = Remat::none;
        if (model.window > 0) {
            plan.context = 1;  // with more, chips that see fewer keys count as the fullest
        }
        const StepProgram program = build_step(model, plan);
        const ParameterCount count = count_parameters(model);
        const std::int64_t matmul = count.layers_matmul + count.embedding;
        std::int64_t attention = 0;  // of a sequence: 6 N (H + Hv) for each pair, all halves whole
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            const std::int64_t seen = layer_kind(model, layer).local
                                          ? std::min(model.window, plan.sequence)
                                          : plan.sequence;
            const std::int64_t twice = 2 * plan.sequence * seen - (plan.causal ? seen * seen : 0);
            attention += 3 * model.heads * (model.head_dim + value_dim(model)) * twice;
        }
        const auto executed =
            static_cast<double>(6 * plan.tokens * matmul + plan.tokens / plan.sequence * attention);
        EXPECT_EQ(flops_by_pass(program).total().value() * chips(plan), executed);
        // MFU's count differs by the embedding's lookup and the norms alone.
        const std::int64_t uncounted = count.active - matmul;
        const StepFlops flops = step_flops(model, plan, program);
        EXPECT_NEAR(
            flops.model.value() / (executed + static_cast<double>(6 * plan.tokens * uncounted)), 1,
            1e-14);
        EXPECT_EQ(flops.hardware.value(), flops.model.value());
    }
}

TEST(Step, BackwardIsTwiceForwardAndRematBlockAddsOneForwardOfTheLayers) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = testing::random_any_model(random);
        TrainingPlan plan = testing::random_any_plan(random, true, model);
        plan.remat = Remat::block;
        const StepProgram program = build_step(model, plan);
        const PassFlops flops = flops_by_pass(program);
        EXPECT_EQ(flops.of(Pass::backward), flops.of(Pass::forward) * 2);
        const double logits = compute_of(program, "unembedding forward logits").flops.value();
        EXPECT_EQ(flops.of(Pass::recompute).value(), flops.of(Pass::forward).value() - logits);
        EXPECT_EQ(flops.of(Pass::optimizer).value(), 0);
        const StepFlops step = step_flops(model, plan, program);
        EXPECT_DOUBLE_EQ(
            (step.hardware - step.model).value(),
            flops.of(Pass::recompute).value() * chips(plan) * occupancy(plan).occupied);
    }
}

/// Sum of V of a layer's collectives (AllReduce twice), in bytes.
double bytes_of(const StepProgram& program, int layer, Pass pass, Purpose purpose) {
    for (const CollectiveBytes& row : collective_bytes(program)) {
        if (row.layer == layer && row.pass == pass && row.purpose == purpose) {
            return row.bytes.value();
        }
    }
    return 0;
}

// The table `strategies` of the reference text (section 5), 2-byte elements, with the 2 D F
// parameters of its two-matmul block generalised to the layer's P and its tensor terms once for
// each of a layer's two blocks: data 0 + 4P, fsdp 2P + 4P, tensor 4BD + 4BD (+ 2BD), fsdp and
// tensor 4BD/X + 2P/Y, ...
TEST(Step, StrategyBytesAreThoseOfTheReferenceText) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = testing::random_model(random);
        TrainingPlan plan = testing::random_plan(random, false);
        plan.remat = random.coin() ? Remat::none : Remat::block;
        const StepProgram program = build_step(model, plan);
        const double x = plan.fsdp * plan.context;
        const double y = plan.tensor;
        const double weights = static_cast<double>(count_layer(model, {}).total()) / y;
        const double rows = static_cast<double>(plan.tokens * model.d_model) / (plan.data * x);
        const double kv = static_cast<double>(plan.tokens * 2 * model.kv_heads * model.head_dim) /
                          (plan.data * plan.fsdp) / y;
        const auto bytes = [&](Pass pass, Purpose purpose) {
            return bytes_of(program, 0, pass, purpose);
        };
        const bool again = plan.remat == Remat::block;

        EXPECT_EQ(bytes(Pass::forward, Purpose::weights), x > 1 ? 2 * weights : 0);
        EXPECT_EQ(bytes(Pass::backward, Purpose::weights), x > 1 ? 2 * weights : 0);
        EXPECT_EQ(bytes(Pass::forward, Purpose::gradients), 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::backward, Purpose::gradients),
                         (x > 1 ? 2 * weights : 0) + (plan.data > 1 ? 4 * weights / x : 0));
        EXPECT_DOUBLE_EQ(bytes(Pass::forward, Purpose::tensor), y > 1 ? 2 * 4 * rows : 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::recompute, Purpose::tensor),
                         y > 1 && again ? 2 * 4 * rows : 0);
        EXPECT_DOUBLE_EQ(bytes(Pass::backward, Purpose::tensor),
                         y > 1 ? 2 * (again ? 4 : 6) * rows : 0);
        // Gathered forward, gathered once more for the backward pass, gradient reduced.
        EXPECT_DOUBLE_EQ(bytes(Pass::forward, Purpose::context), plan.context > 1 ? 2 * kv : 0);
        EXPECT_DOUBLE_EQ(
            bytes(Pass::recompute, Purpose::context) + bytes(Pass::backward, Purpose::context),
            plan.context > 1 ? 2 * 2 * kv : 0);
    }
}

TEST(Step, EveryGroupIsGatheredAndReducedInFull) {
    ModelSpec model = one_layer();
    TrainingPlan plan = one_chip();
    plan.fsdp = 2;
    plan.tokens = 64;
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
        // Layers twice; a tied table twice too, once as each half of an untied pair.
        EXPECT_EQ(gathered, 2.0 * (total + static_cast<double>(count.layers)));
    }
}

TEST(Step, ATiedTableIsReducedOnce) {
    ModelSpec model = one_layer();
    model.tied_embeddings = true;
    TrainingPlan plan = one_chip();
    plan.fsdp = 2;
    plan.tokens = 64;
    const StepProgram program = build_step(model, plan);
    EXPECT_THAT(testing::names(program),
                Not(Contains("unembedding backward reduce-scatter gradients")));
    const OpIndex scatter = find_op(program, "embedding backward reduce-scatter gradients");
    EXPECT_EQ(std::get<Collective>(program.ops[scatter].work).bytes.value(), (64 * 16 + 16) * 2);
}

// One layer by hand: t = 32, D = 16, F = 32, N = 4, K = 2, H = 4, V = 64, gated, 2-byte elements.
TEST(Step, WorkByHand) {
    const StepProgram program = build_step(one_layer(), one_chip());
    const Compute& qkv = compute_of(program, "layer 0 forward qkv");
    EXPECT_EQ(qkv.flops.value(), 2 * 32 * 16 * 32);
    EXPECT_EQ(qkv.hbm.value(), 2 * (32 * 16 + 16 * 32 + 32 * 32) + 4 * 32 * 16 * 2);
    const Compute& attention = compute_of(program, "layer 0 forward attention");
    EXPECT_EQ(attention.flops.value(), 4 * 32 * 32 * 16 / 2);
    EXPECT_EQ(attention.hbm.value(), 2 * (2 * 32 * 16 + 2 * 32 * 8));  // q, o; k, v
    ASSERT_EQ(attention.matmuls.size(), 2U);
    EXPECT_EQ(attention.matmuls[0].count, 4);
    EXPECT_EQ(attention.matmuls[0].n, 32);
    const Compute& down = compute_of(program, "layer 0 forward down");
    EXPECT_EQ(down.flops.value(), 2 * 32 * 32 * 16);
    EXPECT_EQ(down.hbm.value(), 2 * (32 * 32 + 32 * 16 + 32 * 16) + 2 * 3 * 32 * 32);
    const Compute& backward = compute_of(program, "layer 0 backward attention gradient");
    EXPECT_EQ(backward.flops.value(), 8 * 32 * 32 * 16 / 2);
    EXPECT_EQ(backward.hbm.value(),
              2 * (4 * 32 * 16 + 2 * 2 * 32 * 8));  // q, o, dO, dq; k, v, dk, dv
    const Compute& dw = compute_of(program, "layer 0 backward gate_up weight gradient");
    EXPECT_EQ(dw.flops.value(), 2 * 32 * 16 * 64);
    EXPECT_EQ(dw.hbm.value(), 2 * (16 * 32 + 32 * 64 + 16 * 64));
    const Compute& update = compute_of(program, "optimizer update");
    EXPECT_EQ(update.flops.value(), 0);
    EXPECT_EQ(update.hbm.value(),
              static_cast<double>(count_parameters(one_layer()).total) * (2 + 2 + 2 + 4 * 4));
}

}  // namespace
}  // namespace podsim::workloads
