// Parts of a plan that answer questions about themselves:
// precision, loads of experts, remat, unequal ranks.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/ranks.h"

namespace podsim::workloads {
namespace {

TEST(PlanParts, WidthsOfElements) {
    Precision precision{.compute = 3, .parameters = 5, .matmul = MatmulDtype::bf16};
    EXPECT_EQ(precision.weights(), 3);
    EXPECT_EQ(precision.copy(), 3);
    precision.parameters = 2;
    EXPECT_EQ(precision.copy(), 2);
    for (const MatmulDtype quantised : {MatmulDtype::int8, MatmulDtype::fp8}) {
        precision.matmul = quantised;
        EXPECT_EQ(precision.weights(), 1);
    }
    const Precision usual;
    EXPECT_EQ(usual.compute, 2);
    EXPECT_EQ(usual.parameters, 2);
    EXPECT_EQ(usual.gradients, 2);
    EXPECT_EQ(usual.optimizer_moment, 4);
}

TEST(PlanParts, DtypesByName) {
    for (const auto& [name, dtype] : kMatmulDtypes) {
        EXPECT_EQ(to_string(dtype), name);
    }
    EXPECT_EQ(to_string(MatmulDtype::bf16), "bf16");
    EXPECT_EQ(to_string(MatmulDtype::int8), "int8");
    EXPECT_EQ(to_string(MatmulDtype::fp8), "fp8");
}

TEST(PlanParts, LoadsOfExpertsAreUnevenWhereOneIsNotTheMean) {
    EXPECT_FALSE(ExpertLoad{}.uneven());
    EXPECT_FALSE((ExpertLoad{.loads = {1, 1, 1}}.uneven()));
    EXPECT_TRUE((ExpertLoad{.loads = {1, 1.5, 0.5}}.uneven()));
    EXPECT_FALSE((ExpertLoad{.imbalance = 2}.uneven()));  // all chips alike
}

TEST(PlanParts, WhatALayerKeeps) {
    using enum LayerTensor;
    EXPECT_EQ(kept_tensors({.policy = RematPolicy::none}),
              (TensorSet{input, qkv, attended, out, gate_up, hidden, output}));
    EXPECT_EQ(kept_tensors({.policy = RematPolicy::matmuls}),
              (TensorSet{input, qkv, out, gate_up, output}));
    EXPECT_EQ(kept_tensors({.policy = RematPolicy::block}), TensorSet{input});
    EXPECT_EQ(
        kept_tensors({.policy = RematPolicy::named, .names = {.save = {qkv}, .offload = {hidden}}}),
        (TensorSet{input, qkv, hidden}));
    // Names count only for RematPolicy::named.
    EXPECT_EQ(kept_tensors({.policy = RematPolicy::block, .names = {.save = {qkv}}}),
              TensorSet{input});
}

TEST(PlanParts, RematAsScenariosWriteIt) {
    using enum LayerTensor;
    const auto named = [](TensorSet save, TensorSet offload) {
        return to_string(Remat{RematPolicy::named, {save, offload}});
    };
    EXPECT_EQ(to_string(Remat{RematPolicy::none, {}}), "none");
    EXPECT_EQ(to_string(Remat{RematPolicy::matmuls, {}}), "matmuls");
    EXPECT_EQ(to_string(Remat{RematPolicy::block, {}}), "block");
    EXPECT_EQ(to_string(Remat{}), "full");
    EXPECT_EQ(named({}, {}), "full");
    EXPECT_EQ(named({output, qkv}, {}), "{save: [qkv_proj, mlp_out]}");
    EXPECT_EQ(named({}, {input, attended}), "{offload: [decoder_layer_input, attention_out]}");
    EXPECT_EQ(named({out, gate_up}, {hidden}),
              "{save: [out_proj, mlp_gate_up], offload: [mlp_hidden]}");
}

TEST(PlanParts, SetsOfTensors) {
    using enum LayerTensor;
    TensorSet set;
    EXPECT_TRUE(set.empty());
    for (const LayerTensor tensor : kLayerTensors) {
        EXPECT_FALSE(set.has(tensor));
        set.add(tensor);
        EXPECT_TRUE(set.has(tensor));
    }
    set.remove(out);
    EXPECT_EQ(set, (TensorSet{input, qkv, attended, gate_up, hidden, output}));
    set.remove(out);
    EXPECT_FALSE(set.has(out));
    EXPECT_EQ((TensorSet{qkv} | TensorSet{qkv, out}), (TensorSet{out, qkv}));
}

TEST(PlanParts, ContextRanksDoUnequalWork) {
    ModelSpec model;
    TrainingPlan plan;
    plan.batch.sequence = 64;
    plan.ways.context = 4;
    EXPECT_FALSE(uneven_context(plan, model));
    plan.attention.placement = Placement::plain;
    EXPECT_TRUE(uneven_context(plan, model));
    plan.attention.causal = false;
    EXPECT_FALSE(uneven_context(plan, model));
    plan.attention = {};
    // A window shorter than the sequence cuts the ring short.
    model.window = 63;
    EXPECT_FALSE(uneven_context(plan, model));
    plan.overlap.context_steps.emplace();
    EXPECT_TRUE(uneven_context(plan, model));
    model.window = 64;
    EXPECT_FALSE(uneven_context(plan, model));
    model.window = 0;
    EXPECT_FALSE(uneven_context(plan, model));
    model.window = 63;
    plan.ways.context = 1;
    EXPECT_FALSE(uneven_context(plan, model));
}

}  // namespace
}  // namespace podsim::workloads
