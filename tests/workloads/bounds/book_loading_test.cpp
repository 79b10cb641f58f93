// The reference text's step with the loading of weights (section 7), by hand.
#include <cmath>
#include <gtest/gtest.h>

#include "tests/workloads/bounds/by_hand.h"
#include "workloads/bounds/book_step.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {
namespace {

using samples::book_model;
using samples::book_plan;
using samples::kNever;
using samples::torus;
using topology::DeviceMesh;
using Parts = std::vector<std::string>;

/// An HBM that loads 2^22 bytes a second, so that 2^21 parameters of bf16 take one second: a layer
/// of the model 2 + 4 s, the table 4 s.
MachineRates loading_rates(double flops, double link) {
    MachineRates machine{sim::FlopsPerSecond(flops), sim::BytesPerSecond(0x1p22),
                         sim::BytesPerSecond(link), 1};
    machine.hbm_shared = true;
    return machine;
}

// Without FLOPs, a layer takes 6 s forward; backward it reads for 6 s and writes gradients for 6 s.
// The table takes 4 s, then 8. Gradients of 4 bytes take twice as long.
TEST(BookLoading, WeightsAreReadForwardAndBackwardAndTheirGradientsWritten) {
    TrainingPlan plan = book_plan(1 << 16);
    const auto step = [&](double flops = kNever) {
        return book_step(book_model(2), plan, {}, loading_rates(flops, 1));
    };
    EXPECT_DOUBLE_EQ(step().time.value(), 2 * (6 + 12) + 4 + 8);
    EXPECT_EQ(step().loading.parts(), (Parts{"forward", "backward", "unembedding"}));
    plan.precision.gradients = 4;
    EXPECT_DOUBLE_EQ(step().time.value(), 2 * (6 + 18) + 4 + 12);
    plan.precision.gradients = 2;
    plan.forward_only = true;
    EXPECT_DOUBLE_EQ(step().time.value(), 2 * 6 + 4);
    EXPECT_EQ(step().loading.parts(), (Parts{"forward", "unembedding"}));
    plan.layers_only = true;
    EXPECT_DOUBLE_EQ(step().time.value(), 2 * 6);
    EXPECT_EQ(step().loading.parts(), Parts{"forward"});
}

// 2^16 tokens at 2^37 FLOP/s: matmuls 12 s a layer, attention 4 s, the
// table 8 s (book_step_test.cpp), all above the loading. At 2^39 matmuls
// take 3 s, below 6, to which attention's 1 s is added: forward 7, backward
// 12 + 2; the table 2 below 4, 4 below 8. A private HBM loads nothing.
TEST(BookLoading, IsInPlaceOfTheMatmulsFlopsAndAttentionApart) {
    const TrainingPlan plan = book_plan(1 << 16);
    const BookEstimate slow = book_step(book_model(1), plan, {}, loading_rates(0x1p37, 1));
    EXPECT_DOUBLE_EQ(slow.time.value(), (12 + 4) + (24 + 8) + 8 + 16);
    EXPECT_TRUE(slow.loading.parts().empty());
    const BookEstimate fast = book_step(book_model(1), plan, {}, loading_rates(0x1p39, 1));
    EXPECT_DOUBLE_EQ(fast.time.value(), (6 + 1) + (12 + 2) + 4 + 8);
    EXPECT_EQ(fast.loading.parts().size(), 3);
    // At 2^38 FLOPs and loading take the same: 6 s, 12
    // s, 4 s, 8 s. The loading does not bound the time.
    EXPECT_TRUE(
        book_step(book_model(1), plan, {}, loading_rates(0x1p38, 1)).loading.parts().empty());
    MachineRates machine = loading_rates(0x1p39, 1);
    machine.hbm_shared = false;
    const BookEstimate apart = book_step(book_model(1), plan, {}, machine);
    EXPECT_DOUBLE_EQ(apart.time.value(), (3 + 1) + (6 + 2) + 2 + 4);
    EXPECT_TRUE(apart.loading.parts().empty());
}

// Recomputation reads the weights again that it uses: all of them, or with named tensors the
// projections whose results are not kept.
TEST(BookLoading, RecomputationReadsItsWeightsAgain) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.layers_only = true;
    const auto backward = [&] {
        return book_step(book_model(1), plan, {}, loading_rates(kNever, 1)).time.value() - 6;
    };
    plan.remat = {.policy = RematPolicy::block};
    EXPECT_DOUBLE_EQ(backward(), 12 + 6);
    plan.remat = {.policy = RematPolicy::matmuls};
    EXPECT_DOUBLE_EQ(backward(), 12);
    using enum LayerTensor;
    const auto named = [&](TensorSet save) {
        plan.remat = {.policy = RematPolicy::named, .names = {.save = save}};
        return backward();
    };
    EXPECT_DOUBLE_EQ(named({qkv, attended, out, gate_up}), 12);
    EXPECT_DOUBLE_EQ(named({attended, out, gate_up}), 12 + 1.5);
    EXPECT_DOUBLE_EQ(named({qkv, attended, gate_up}), 12 + 0.5);
    EXPECT_DOUBLE_EQ(named({qkv, attended, out}), 12 + 2);
}

// Over fsdp every chip reads all gathered weights; over tensor a quarter. Weights that are not
// gathered are read as stored: 4 bytes, with ZeRO-1 in the copy of 2. Quantised weights are
// gathered in one byte, except the table.
TEST(BookLoading, BytesAreThoseThatAChipReads) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.forward_only = true;
    const auto step = [&](const char* axis) {
        return book_step(book_model(1), plan, DeviceMesh(torus(4), {{axis, {{0, 1, 4}}}}),
                         loading_rates(kNever, 0x1p60))
            .time.value();
    };
    plan.ways.fsdp = 4;
    EXPECT_DOUBLE_EQ(step("fsdp"), 6 + 4);
    plan.precision.parameters = 4;
    EXPECT_DOUBLE_EQ(step("fsdp"), 6 + 4);
    plan.precision.matmul = MatmulDtype::int8;
    MachineRates machine = loading_rates(kNever, 0x1p60);
    machine.int8 = sim::FlopsPerSecond::infinity();
    EXPECT_DOUBLE_EQ(
        book_step(book_model(1), plan, DeviceMesh(torus(4), {{"fsdp", {{0, 1, 4}}}}), machine)
            .time.value(),
        3 + 4);
    plan.precision.matmul = MatmulDtype::bf16;
    plan.ways = {.tensor = 4};
    EXPECT_DOUBLE_EQ(step("tensor"), 2 * (6 + 4) / 4.0);
    plan.ways = {.data = 4};
    plan.zero = 1;
    EXPECT_DOUBLE_EQ(step("data"), 6 + 4);
}

// Four experts on two chips have 2^23 parameters each, 4 s; attention and the router take 2 s +
// 2^-9. With rows for all, both experts of a chip are read. With two tokens for one expert each,
// one on each of two chips, one row touches one of the two, 4 s. All gradients are written.
TEST(BookLoading, OfExpertsThoseThatAreTouched) {
    ModelSpec model = book_model(1);
    model.experts = {.count = 4, .per_token = 1, .d_ff = 4096};
    TrainingPlan plan = book_plan(1 << 16);
    plan.layers_only = true;
    plan.ways.expert = 2;
    const DeviceMesh mesh(torus(2), {{"expert", {{0, 1, 2}}}});
    const auto step = [&] {
        return book_step(model, plan, mesh, loading_rates(kNever, 0x1p60)).time.value();
    };
    const double dense = 2 + 0x1p-9;
    EXPECT_DOUBLE_EQ(step(), (dense + 8) + 2 * (dense + 8));
    plan.batch.tokens = 2;
    plan.batch.sequence = 1;
    EXPECT_DOUBLE_EQ(step(), (dense + 4) + (dense + 4) + (dense + 8));
    plan.remat.policy = RematPolicy::block;
    EXPECT_DOUBLE_EQ(step(), (dense + 4) + 2 * (dense + 4) + (dense + 8));
}

// Slower links bound the time instead: at W = 2^21 the gather of 6 x 2^22 bytes takes 12 s forward.
TEST(BookLoading, IsNotWhatBoundsBesideSlowerLinks) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.ways.fsdp = 4;
    plan.layers_only = true;
    const DeviceMesh mesh(torus(4), {{"fsdp", {{0, 1, 4}}}});
    const BookEstimate slow = book_step(book_model(1), plan, mesh, loading_rates(kNever, 0x1p20));
    EXPECT_DOUBLE_EQ(slow.time.value(), 12 + 24);
    EXPECT_TRUE(slow.loading.parts().empty());
    // At twice that rate both take the same, and above it the loading bounds the time.
    EXPECT_EQ(
        book_step(book_model(1), plan, mesh, loading_rates(kNever, 0x1p21)).loading.parts().size(),
        0);
    EXPECT_EQ(book_step(book_model(1), plan, mesh, loading_rates(kNever, 0x1p22)).loading.parts(),
              (Parts{"forward", "backward"}));
}

}  // namespace
}  // namespace podsim::workloads
