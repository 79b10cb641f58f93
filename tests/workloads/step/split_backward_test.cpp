// Backward passes split into input gradients and weight gradients, for every structure of layer.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::Random;
using Kind = PipelineUnit::Kind;

/// Returns the kind of unit of every operation; `forward` for those outside the units.
std::vector<Kind> kinds_of(const StepProgram& program, const TrainingPlan& plan, int stage) {
    const std::vector<PipelineUnit> order = stage_order(plan, stage);
    std::vector<Kind> kinds(program.ops.size(), Kind::forward);
    for (std::size_t unit = 0; unit < order.size(); ++unit) {
        const std::size_t end =
            unit + 1 < order.size() ? program.units[unit + 1] : program.ops.size();
        std::fill(kinds.begin() + program.units[unit],
                  kinds.begin() + static_cast<std::ptrdiff_t>(end), order[unit].kind);
    }
    return kinds;
}

using Sums = std::map<std::tuple<collectives::Operation, Purpose, std::vector<std::string>>,
                      std::pair<double, int>>;
/// Returns V and number of a program's collectives by operation, purpose and axes.
Sums collectives_of(const StepProgram& program) {
    Sums sums;
    for (const Op& op : program.ops) {
        if (const auto* one = std::get_if<Collective>(&op.work)) {
            auto& [bytes, number] = sums[{one->operation, one->purpose, one->axes}];
            bytes += one->bytes.value();
            ++number;
        }
    }
    return sums;
}

TrainingPlan split_plan(Random& random, ModelSpec& model) {
    TrainingPlan plan = samples::random_any_plan(random, false, model);
    plan.ways.pipeline = random.from(2, 3);
    plan.pipeline.schedule = PipelineSchedule::zero_bubble;
    plan.batch.microbatches = random.from(1, 4);
    plan.batch.tokens *= plan.batch.microbatches;
    samples::name_tensors(random, model, plan);
    model.layers = std::int64_t{plan.ways.pipeline} * random.from(1, 2);
    if (model.experts.count > 0) {
        model.experts.first_dense = random.from(0, static_cast<int>(model.layers));
        model.experts.every = random.from(1, static_cast<int>(model.layers));
    }
    if (model.window > 0) {
        const int least = model.global == GlobalAttention{} ? 0 : 1;
        model.global_every = random.from(least, static_cast<int>(model.layers));
    }
    validate(plan, model);
    return plan;
}

// Y = X W has dX and dW of 2 m k n FLOPs each. The first is among the input gradients, the second
// among the weight gradients, which also have only the gathers of tensor parallelism. The
// collectives are the same as without the split.
TEST(SplitBackward, HasEveryMatmulOnceInEachPass) {
    int experts = 0;
    int latents = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model = samples::random_any_model(random);
        const TrainingPlan plan = split_plan(random, model);
        TrainingPlan whole = plan;
        whole.pipeline.schedule = PipelineSchedule::one_f_one_b;
        experts += model.experts.count > 0 ? 1 : 0;
        latents += model.latent.kv_rank > 0 ? 1 : 0;
        for (int stage = 0; stage < plan.ways.pipeline; ++stage) {
            const StepProgram split = build_step(model, plan, {.stage = stage});
            const StepProgram fused = build_step(model, whole, {.stage = stage});
            const Sums sums = collectives_of(split);
            const Sums expected = collectives_of(fused);
            ASSERT_EQ(sums.size(), expected.size());
            for (const auto& [what, sum] : expected) {
                EXPECT_EQ(sums.at(what).second, sum.second);
                EXPECT_NEAR(sums.at(what).first, sum.first, 1e-9 * sum.first);
            }
            for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward}) {
                const double flops = flops_by_pass(fused).of(pass).value();
                EXPECT_NEAR(flops_by_pass(split).of(pass).value(), flops, 1e-12 * flops);
            }

            const std::vector<Kind> kinds = kinds_of(split, plan, stage);
            std::map<std::string, double> inputs;
            std::map<std::string, double> weights;
            const std::string of_input = " input gradient";
            const std::string of_weight = " weight gradient";
            for (std::size_t i = 0; i < split.ops.size(); ++i) {
                const Op& op = split.ops[i];
                if (op.layer < 0 || op.pass != Pass::backward) {
                    continue;
                }
                const auto* work = std::get_if<Compute>(&op.work);
                if (work == nullptr) {
                    if (const auto* one = std::get_if<Collective>(&op.work);
                        one != nullptr && kinds[i] == Kind::weights) {
                        EXPECT_TRUE(one->purpose == Purpose::gradients ||
                                    (one->purpose == Purpose::tensor &&
                                     one->operation == collectives::Operation::all_gather))
                            << op.name;
                    }
                    continue;
                }
                const bool weight = op.name.ends_with(of_weight);
                EXPECT_EQ(weight, kinds[i] == Kind::weights) << op.name;
                if (weight) {
                    weights[op.name.substr(0, op.name.size() - of_weight.size())] +=
                        work->flops.value();
                } else if (op.name.ends_with(of_input)) {
                    inputs[op.name.substr(0, op.name.size() - of_input.size())] +=
                        work->flops.value();
                }
            }
            EXPECT_EQ(weights, inputs);
        }
    }
    EXPECT_GT(experts, 50);
    EXPECT_GT(latents, 50);
}

/// Returns the activations and buffers that a stage
/// holds when it begins its last unit, in program order.
double held_before_last_unit(const StepProgram& program) {
    double held = 0;
    for (const Buffer& buffer : program.buffers) {
        if ((buffer.memory_class == MemoryClass::activations ||
             buffer.memory_class == MemoryClass::buffers) &&
            buffer.allocated_at < program.units.back() &&
            std::ranges::max(buffer.freed_after) >= program.units.back()) {
            held += buffer.bytes.value();
        }
    }
    return held;
}

/// D = 16; 4 heads of 4 + 4; latents of 8 + 6 + 2; 4 experts of 2 x 32, 2 a token, one shared.
ModelSpec latent_experts() {
    ModelSpec model = samples::one_layer();
    model.layers = 2;
    model.kv_heads = 4;
    model.latent = {.q_rank = 8, .kv_rank = 6, .rope_dim = 2, .value_dim = 4};
    model.experts = {.count = 4, .per_token = 2, .shared = 1, .d_ff = 32};
    return model;
}

TrainingPlan last_weights(int expert, int tensor, RematPolicy remat) {
    TrainingPlan plan;
    plan.batch.sequence = 32;
    plan.ways.expert = expert;
    plan.ways.tensor = tensor;
    plan.batch.microbatches = plan.ways.pipeline = 2;
    plan.batch.tokens = plan.batch.sequence * expert * plan.batch.microbatches;
    plan.pipeline.schedule = PipelineSchedule::zero_bubble;
    plan.layers_only = true;
    plan.remat.policy = remat;
    return plan;
}

// Held before the weight gradients of its one layer, t = 32 tokens, in elements a token:
//   kept of the forward pass   input 16, normed 16, latents 16, attended 16, out 16, normed 16,
//                              logits 4, experts' tokens 2 x 16, gate and up 2 x 64, hidden
//                              2 x 32, shared gate and up 64 and hidden 32
//   gradients                  of attention's and the shared experts' output 16 each, of the
//                              experts' 2 x 16, of gate and up 2 x 64 and 64, of q, k and v
//                              16 + 16 + 16, of the latents 16
// q, k and v themselves are freed, and so are the outputs of the experts: the sum's gradient has
// read them.
TEST(SplitBackward, HoldsWhatWeightGradientsOfExpertsAndLatentsRead) {
    const double kept = 5 * 16 + 16 + 4 + 32 + 128 + 64 + 64 + 32;
    const double gradients = 2 * 16 + 32 + 128 + 64 + 48 + 16;
    for (const int expert : {1, 2}) {
        const TrainingPlan plan = last_weights(expert, 1, RematPolicy::none);
        EXPECT_EQ(held_before_last_unit(build_step(latent_experts(), plan, {.stage = 1})),
                  32 * 2 * (kept + gradients));
    }
}

// Tensor is 2 and only the input is kept, 8 elements a token of this chip. Recomputed are rows
// complete 16 and 16, latents 8 and complete 16, attended 8, out 8, logits 2, tokens 2 x 8 and
// complete 2 x 16, gate and up 2 x 32 and 32, hidden 2 x 16 and 16. Gradients are complete rows 16,
// 16 and 2 x 16, gate and up 2 x 32 and 32, q, k, v 24, latents 8.
TEST(SplitBackward, HoldsCompleteRowsOfTensorWays) {
    const double alive = 8 + 2 * 16 + 8 + 16 + 8 + 8 + 2 + 16 + 32 + 64 + 32 + 32 + 16;
    const double gradients = 16 + 16 + 32 + 64 + 32 + 24 + 8;
    const TrainingPlan plan = last_weights(2, 2, RematPolicy::block);
    EXPECT_EQ(held_before_last_unit(build_step(latent_experts(), plan, {.stage = 1})),
              32 * 2 * (alive + gradients));
}

// The experts' tokens that were not kept are exchanged again with the input gradients.
TEST(SplitBackward, ExchangesTokensWithTheInputGradients) {
    const StepProgram program =
        build_step(latent_experts(), last_weights(2, 2, RematPolicy::matmuls), {.stage = 0});
    const std::string before = "microbatch 1 layer 0 backward ";
    std::vector<std::string> names;
    for (const Op& op : program.ops) {
        if (op.name.starts_with(before)) {
            names.push_back(op.name.substr(before.size()));
        }
    }
    const std::vector<std::string> expected{
        // Input gradients, and their early gathers.
        "gather weights", "gather shared output gradient", "shared down input gradient",
        "shared gate_up input gradient", "scatter shared input gradient", "combine gradient",
        "exchange expert output gradient", "gather expert output gradient",
        "experts down input gradient", "exchange tokens", "experts gate_up input gradient",
        "scatter token gradient", "exchange token gradient", "router input gradient",
        "gather attention output gradient", "out input gradient", "attention gradient",
        "qkv input gradient", "scatter latent gradient", "latent input gradient",
        "scatter attention input gradient",
        // Weight gradients.
        "shared down weight gradient", "gather mlp input", "shared gate_up weight gradient",
        "router weight gradient", "experts down weight gradient", "gather tokens",
        "experts gate_up weight gradient", "out weight gradient", "gather attention input",
        "gather latents", "qkv weight gradient", "latent weight gradient",
        "reduce-scatter gradients"};
    EXPECT_EQ(names, expected);
}

}  // namespace
}  // namespace podsim::workloads
