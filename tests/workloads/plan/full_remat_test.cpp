// `full`: only a layer's input is kept, and operations whose result no backward operation reads do
// not run again; MaxText's policies.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/book_step.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/bounds/weight_loading.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::of_layer;
using samples::one_chip;
using samples::one_layer;
using samples::Random;
using Names = std::vector<std::string>;

Remat policy(std::string_view name) {
    for (const auto& [other, remat] : remat_policies()) {
        if (name == other) {
            return remat;
        }
    }
    throw std::runtime_error("no policy");
}

double again(const ModelSpec& model, TrainingPlan plan, const Remat& remat) {
    plan.remat = remat;
    return flops_by_pass(build_step(model, plan)).of(Pass::recompute).value();
}

/// Returns the operations that `block` runs again and `full` does not, by name.
Names dead(const ModelSpec& model, TrainingPlan plan) {
    plan.remat = policy("block");
    const Names all = of_layer(build_step(model, plan), Pass::recompute);
    plan.remat = policy("full");
    Names run = of_layer(build_step(model, plan), Pass::recompute);
    Names left;
    for (const std::string& name : all) {
        const auto found = std::ranges::find(run, name);
        if (found == run.end()) {
            left.push_back(name);
        } else {
            run.erase(found);
        }
    }
    EXPECT_EQ(run, Names{});
    return left;
}

ModelSpec with_experts(std::int64_t shared) {
    ModelSpec model = one_layer();
    model.experts = {.count = 4, .per_token = 2, .shared = shared, .d_ff = 32};
    return model;
}

TrainingPlan split() {
    TrainingPlan plan = one_chip();
    plan.ways.tensor = plan.ways.expert = 2;
    plan.batch.tokens *= 2;
    return plan;
}

TrainingPlan over_tensor() {
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    return plan;
}

// t = 32, D = 16, F = 32, N H = 16: the MLP's last matmul has 2 t D F = 32768 FLOPs, attention's
// output 2 t N H D = 16384.
TEST(FullRemat, LeavesTheMlpsLastMatmulAndItsCollective) {
    const ModelSpec model = one_layer();
    EXPECT_EQ(again(model, one_chip(), policy("block")) - again(model, one_chip(), policy("full")),
              2 * 32 * 16 * 32);
    EXPECT_EQ(dead(model, over_tensor()), (Names{"down", "scatter mlp output"}));
}

TEST(FullRemat, LeavesAParallelBlocksOutputToo) {
    ModelSpec model = one_layer();
    model.parallel_block = true;
    EXPECT_EQ(again(model, one_chip(), policy("block")) - again(model, one_chip(), policy("full")),
              2 * 32 * 16 * 32 + 2 * 32 * 16 * 16);
    EXPECT_EQ(dead(model, over_tensor()), (Names{"out", "down", "scatter layer output"}));
}

// A norm behind the blocks reads their outputs (Gemma 2 and 3): no operation is dead.
TEST(FullRemat, NormedOutputsAreAlive) {
    ModelSpec model = one_layer();
    model.norms = 4;
    EXPECT_EQ(again(model, one_chip(), policy("block")), again(model, one_chip(), policy("full")));
    EXPECT_EQ(dead(model, over_tensor()), Names{});
    model.experts = with_experts(1).experts;
    EXPECT_EQ(dead(model, split()), Names{});
    // A saved output does not run again.
    EXPECT_EQ(again(one_layer(), one_chip(), policy("full")) -
                  again(one_layer(), one_chip(), policy("save_dot_except_mlpwi")),
              32768 + 16384);
    model.experts = {};
    EXPECT_EQ(again(model, one_chip(), policy("full")) -
                  again(model, one_chip(), policy("save_dot_except_mlpwi")),
              32768 + 16384 + 32768);
}

// The router's weights multiply the outputs of the routed experts, so that their gradient reads
// these; shared experts are only added.
TEST(FullRemat, RoutedExpertsAreAliveAndSharedOnesAreNot) {
    EXPECT_EQ(dead(with_experts(0), split()), Names{"combine"});
    EXPECT_EQ(dead(with_experts(1), split()),
              (Names{"shared down", "scatter shared output", "combine"}));
    EXPECT_EQ(again(with_experts(1), one_chip(), policy("block")) -
                  again(with_experts(1), one_chip(), policy("full")),
              2 * 32 * 16 * 32);
    // An output kept at the experts is exchanged again.
    TrainingPlan plan = split();
    plan.remat = policy("minimal");
    EXPECT_EQ(of_layer(build_step(with_experts(0), plan), Pass::recompute),
              (Names{"exchange expert output", "attention"}));
    plan.remat = policy("save_dot_except_mlp");
    const Names some = of_layer(build_step(with_experts(0), plan), Pass::recompute);
    EXPECT_EQ(Names(some.begin() + 3, some.end()),
              (Names{"experts gate_up", "experts down", "scatter expert output",
                     "exchange expert output", "attention"}));
}

/// Returns the bytes to the host.
double moved(const ModelSpec& model, const Remat& remat) {
    TrainingPlan plan = one_chip();
    plan.remat = remat;
    double bytes = 0;
    for (const Op& op : build_step(model, plan).ops) {
        if (const auto* transfer = std::get_if<HostTransfer>(&op.work)) {
            bytes += transfer->direction == collectives::HostDirection::to_host
                         ? transfer->bytes.value()
                         : 0;
        }
    }
    return bytes;
}

// A row's tensors have r D = 32 x 16 x 2 bytes; two experts have two copies of it.
TEST(FullRemat, NothingDeadIsOffloaded) {
    const double row = 32 * 16 * 2;
    const Remat output{.policy = RematPolicy::named, .names = {.offload = {LayerTensor::output}}};
    const Remat both{.policy = RematPolicy::named,
                     .names = {.offload = {LayerTensor::out, LayerTensor::output}}};
    ModelSpec model = one_layer();
    EXPECT_EQ(moved(model, output), 0);
    EXPECT_EQ(moved(model, both), row);
    EXPECT_EQ(never_read(model, both.names), TensorSet{LayerTensor::output});
    model.parallel_block = true;
    EXPECT_EQ(moved(model, both), 0);
    EXPECT_EQ(never_read(model, both.names), both.names.offload);
    model.parallel_block = false;
    model.norms = 4;
    EXPECT_EQ(moved(model, output), row);
    EXPECT_EQ(moved(with_experts(1), output), 2 * row);
    EXPECT_EQ(never_read(with_experts(1), output.names), TensorSet{});
}

TEST(FullRemat, PoliciesOfMaxText) {
    using enum LayerTensor;
    const std::map<std::string_view, std::pair<TensorSet, TensorSet>> expected{
        {"full", {{}, {}}},
        {"block", {{}, {}}},
        {"none", {{qkv, attended, out, gate_up, hidden, output}, {}}},
        {"matmuls", {{qkv, out, gate_up, output}, {}}},
        {"minimal", {{qkv, out, gate_up, output}, {}}},
        {"minimal_with_quantization", {{qkv, out, gate_up, output}, {}}},
        {"minimal_with_context", {{qkv, attended, out, gate_up, output}, {}}},
        {"minimal_flash", {{qkv, attended, out, gate_up, output}, {}}},
        {"minimal_with_context_and_quantization", {{qkv, attended, out, gate_up, output}, {}}},
        {"minimal_offloaded", {{}, {qkv, out, gate_up, output}}},
        {"save_dot_with_context_except_mlp", {{qkv, attended, out}, {}}},
        {"save_dot_except_mlp", {{qkv, out}, {}}},
        {"save_dot_except_mlpwi", {{qkv, out, output}, {}}},
        {"save_dot_except_logits", {{qkv, out, gate_up, output}, {}}},
        {"save_dot_except_logits_ffn1", {{qkv, out, output}, {}}},
        {"save_qkv_proj", {{qkv}, {}}},
        {"save_out_proj", {{out}, {}}},
        {"qkv_proj_offloaded", {{}, {qkv}}},
        {"proj", {{qkv}, {}}}};
    EXPECT_EQ(remat_policies().size(), expected.size());
    for (const auto& [name, remat] : remat_policies()) {
        SCOPED_TRACE(name);
        const auto& [save, offload] = expected.at(name);
        EXPECT_EQ(kept_tensors(remat), TensorSet{input} | save | offload);
        EXPECT_EQ(remat.names.offload, offload);
    }
}

// read_backward agrees with the needs of operations: with nothing recomputed, the backward pass
// needs the operation that makes a tensor exactly if the tensor is read. (The operation of gate_up
// makes the hidden product too.)
TEST(FullRemat, ReadIsWhatBackwardOperationsNeed) {
    const auto reads = [](const ModelSpec& model, const std::string& maker) {
        TrainingPlan plan = over_tensor();
        const StepProgram program = build_step(model, plan);
        const OpIndex made = samples::find_op(program, "layer 0 forward " + maker);
        return std::ranges::any_of(program.ops, [&](const Op& op) {
            return op.pass == Pass::backward && op.layer == 0 &&
                   std::ranges::find(op.needs, made) != op.needs.end();
        });
    };
    for (const std::int64_t norms : {2, 4}) {
        ModelSpec model = one_layer();
        model.norms = norms;
        const TensorSet read = read_backward(model, {});
        EXPECT_EQ(reads(model, "scatter attention output"), read.has(LayerTensor::out));
        EXPECT_EQ(reads(model, "scatter mlp output"), read.has(LayerTensor::output));
        EXPECT_EQ(reads(model, "gate_up"), read.has(LayerTensor::gate_up));
    }
}

// The FLOPs of block are at least those of full, of any policy, of none.
TEST(FullRemat, PoliciesAreOrderedByWhatTheyRunAgain) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = samples::random_any_plan(random, false, model);
        const double block = again(model, plan, policy("block"));
        const double full = again(model, plan, policy("full"));
        EXPECT_GE(block * (1 + 1e-12), full);
        for (const auto& [name, remat] : remat_policies()) {
            if (remat.policy == RematPolicy::named) {
                EXPECT_GE(full * (1 + 1e-12), again(model, plan, remat)) << name;
            }
        }
        EXPECT_EQ(again(model, plan, policy("none")), 0);
    }
}

// The matmuls of the closed form that run again are those that the step runs again.
TEST(FullRemat, TheBookCountsWhatRuns) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = one_chip();
        samples::name_tensors(random, model, plan);
        plan.remat.policy = random.coin() ? RematPolicy::named : RematPolicy::block;
        double expected = 0;
        for (const auto& [kind, number] : layer_kinds(model)) {
            const auto taken = static_cast<double>(count_layer(model, kind).experts_taken);
            expected += 2.0 * 32 * static_cast<double>(number) *
                        matmuls_again(model, plan.remat, kind, taken);
        }
        double run = 0;
        for (const Op& op : build_step(model, plan).ops) {
            const auto* work = std::get_if<Compute>(&op.work);
            if (op.pass == Pass::recompute && work != nullptr && !op.name.ends_with("attention")) {
                run += work->flops.value();
            }
        }
        EXPECT_NEAR(run, expected, 1e-9 * expected);
    }
}

}  // namespace
}  // namespace podsim::workloads
