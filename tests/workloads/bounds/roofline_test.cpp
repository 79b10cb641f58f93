#include "workloads/bounds/roofline.h"

#include <cmath>
#include <gtest/gtest.h>

#include "tests/workloads/bounds/by_hand.h"
#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/book_step.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::book_model;
using samples::book_plan;
using samples::Random;
using samples::torus;
using topology::DeviceMesh;
using topology::Lattice;

MachineRates rates(double flops, double hbm, double ici, int mxu = 1) {
    return {sim::FlopsPerSecond(flops), sim::BytesPerSecond(hbm), sim::BytesPerSecond(ici), mxu};
}

// 100 rows take as long as the 128 of the array; k = 128 fits; n = 300 takes three tiles, 384.
TEST(Analytic, ComputeTimePadsToTheSystolicArray) {
    const Compute work{sim::Flops(2.0 * 100 * 128 * 300), {{100, 128, 300, 1}}, sim::Bytes(1000)};
    const ComputeTime time = compute_time(work, rates(1e6, 1e3, 1, 128));
    EXPECT_DOUBLE_EQ(time.mxu.value(), 7.68);
    EXPECT_DOUBLE_EQ(time.mxu_padded.value(), 2.0 * 128 * 128 * 384 / 1e6);
    EXPECT_DOUBLE_EQ(time.hbm.value(), 1);
    EXPECT_EQ(time.total(), time.mxu_padded);
}

TEST(Analytic, ComputeTimeScalesSkippedWorkByThePaddingOfItsShapes) {
    const Compute half{sim::Flops(64.0 * 128 * 128), {{64, 128, 128, 7}}, sim::Bytes(0)};
    const ComputeTime time = compute_time(half, rates(1e6, 1, 1, 128));
    EXPECT_DOUBLE_EQ(time.mxu_padded.value(), 2 * time.mxu.value());
    // More rows than the array has stream through it without padding.
    const Compute rows{sim::Flops(2.0 * 3400 * 128 * 128), {{3400, 128, 128, 1}}, sim::Bytes(0)};
    const ComputeTime streamed = compute_time(rows, rates(1e6, 1, 1, 128));
    EXPECT_EQ(streamed.mxu, streamed.mxu_padded);
    const Compute none{sim::Flops(0), {}, sim::Bytes(5)};
    EXPECT_EQ(compute_time(none, rates(1, 10, 1)).total().value(), 0.5);
    const Compute exact{sim::Flops(2.0 * 128 * 256 * 384), {{128, 256, 384, 1}}, sim::Bytes(0)};
    const ComputeTime whole = compute_time(exact, rates(3e5, 1, 1, 128));
    EXPECT_EQ(whole.mxu, whole.mxu_padded);
    const ComputeTime infinite = compute_time(
        half, {sim::FlopsPerSecond::infinity(), sim::BytesPerSecond::infinity(), {}, 128});
    EXPECT_EQ(infinite.total().value(), 0);
}

StepProgram program_of_ops(std::vector<Op> ops) {
    return {std::move(ops), {}};
}

Op collective(collectives::Operation operation, std::vector<std::string> axes, double bytes) {
    return {"c",
            Pass::forward,
            0,
            Collective{operation, Purpose::weights, std::move(axes), sim::Bytes(bytes)},
            {}};
}

TEST(Analytic, LowerBoundIsTheTightestSetOfAxes) {
    using collectives::Operation;
    const Lattice slice = torus(4, 4, 1);
    const DeviceMesh mesh(slice, {{"a", {{0, 1, 4}}}, {"b", {{1, 1, 4}}}});
    const MachineRates machine = rates(1, 1, 1);
    // Each chip receives 3/4 of 80 over the two links of x: 30 s.
    const StepProgram one = program_of_ops({collective(Operation::all_gather, {"a"}, 80)});
    EXPECT_EQ(roofline_lower(one, slice, mesh, machine).time.value(), 30);
    EXPECT_EQ(roofline_lower(one, slice, mesh, machine).bound, "ici x");
    // Another 60 come over y at the same time: x+y have 120
    // bytes over four links, still 30 s, as tight as x.
    const StepProgram two = program_of_ops({collective(Operation::all_gather, {"a"}, 80),
                                            collective(Operation::reduce_scatter, {"b"}, 80)});
    EXPECT_EQ(roofline_lower(two, slice, mesh, machine).time.value(), 30);
    EXPECT_EQ(roofline_lower(two, slice, mesh, machine).bound, "ici x");
    // An AllGather over both brings 15/16 of 160 = 150 bytes: (150 + 60) / 4 links = 52.5 s.
    const StepProgram both = program_of_ops({collective(Operation::all_gather, {"a", "b"}, 160),
                                             collective(Operation::all_gather, {"a"}, 80)});
    EXPECT_EQ(roofline_lower(both, slice, mesh, machine).time.value(), 52.5);
    EXPECT_EQ(roofline_lower(both, slice, mesh, machine).bound, "ici x+y");
    EXPECT_EQ(roofline_lower(both, slice, mesh, machine).links.value(), 52.5);
}

TEST(Analytic, LowerBoundSumsComputeAndHbm) {
    const Lattice slice = torus(1, 1, 1);
    const StepProgram program =
        program_of_ops({{"a", Pass::forward, 0, Compute{sim::Flops(10), {}, sim::Bytes(50)}, {}},
                        {"b", Pass::forward, 0, Compute{sim::Flops(90), {}, sim::Bytes(10)}, {}}});
    const LowerBound lower = roofline_lower(program, slice, {}, rates(10, 10, 1));
    EXPECT_EQ(lower.compute.value(), 10);
    EXPECT_EQ(lower.hbm.value(), 6);
    EXPECT_EQ(lower.links.value(), 0);
    EXPECT_EQ(lower.time.value(), 10);
    EXPECT_EQ(lower.bound, "compute");
    EXPECT_EQ(roofline_lower(program, slice, {}, rates(10, 1, 1)).bound, "hbm");
    EXPECT_EQ(roofline_serial(program, slice, {}, rates(10, 10, 1)).value(), 5 + 9);
}

TEST(Analytic, LowerIsNeverAboveSerial) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        const TrainingPlan plan = samples::random_any_plan(random, true, model);
        Lattice slice{{plan.ways.tensor * plan.ways.data, plan.ways.context * plan.ways.expert,
                       plan.ways.fsdp},
                      {},
                      {}};
        for (bool& wraps : slice.wrapped) {
            wraps = random.coin();
        }
        const DeviceMesh mesh(slice, {{"tensor", {{0, 1, plan.ways.tensor}}},
                                      {"data", {{0, plan.ways.tensor, plan.ways.data}}},
                                      {"context", {{1, 1, plan.ways.context}}},
                                      {"expert", {{1, plan.ways.context, plan.ways.expert}}},
                                      {"fsdp", {{2, 1, plan.ways.fsdp}}}});
        const MachineRates machine =
            rates(std::pow(10, random.from(6, 12)), std::pow(10, random.from(4, 9)),
                  std::pow(10, random.from(4, 9)), 128);
        const StepProgram program = build_step(model, plan);
        const LowerBound lower = roofline_lower(program, slice, mesh, machine);
        const sim::Seconds serial = roofline_serial(program, slice, mesh, machine);
        EXPECT_GT(lower.time.value(), 0);
        EXPECT_LE(lower.time.value(), serial.value() * (1 + 1e-12)) << lower.bound;
        if (plan.ways.chips() == 1) {
            EXPECT_EQ(lower.links.value(), 0);
        }
    }
}

// The model of by_hand.h with L = 2: P = 2^22 + 2^23 = 12,582,912; S = 4096, 65536 tokens.
// fsdp 16 over x and y, tensor 4 over z, block remat: t = 4096, a = 2^33, forward
// 2 P t / 4 + a = 2^35 FLOPs, one second; the unembedding 2^34. W = 2^23:
//   gather = P / 4 x 2 / 2^24 = 0.375 s, rows = 2^23 / 2^23 = 1 s
//   forward  max(1, 0.375 + 4) = 4.375        backward max(3, 0.375 + 0.375 + 8) = 8.75
//   unembedding: gather of 2^23 = 0.25; max(0.5, 1.25) + max(1, 1.25) = 2.5
TEST(Analytic, BookStepOfFsdpAndTensorByHand) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.remat.policy = RematPolicy::block;
    plan.ways.fsdp = 16;
    plan.ways.tensor = 4;
    const DeviceMesh mesh(torus(4, 4, 4),
                          {{"fsdp", {{0, 1, 4}, {1, 1, 4}}}, {"tensor", {{2, 1, 4}}}});
    const auto step = [&](double link) {
        return book_step(book_model(2), plan, mesh, rates(0x1p35, 1, link)).time.value();
    };
    EXPECT_DOUBLE_EQ(step(0x1p22), 2 * (4.375 + 8.75) + 2.5);
    // With sixteen times the link rate compute bounds every term.
    EXPECT_DOUBLE_EQ(step(0x1p26), 2 * (1 + 3) + 0.5 + 1);
    // Without remat, communication bounds the time: the third gather makes 6 rows of 8.
    plan.remat.policy = RematPolicy::none;
    EXPECT_DOUBLE_EQ(step(0x1p22), 2 * (4.375 + 6.75) + 2.5);
    EXPECT_DOUBLE_EQ(step(0x1p26), 2 * (1 + 2) + 0.5 + 1);
    // Attention runs again: a = 0.25 s.
    plan.remat.policy = RematPolicy::matmuls;
    EXPECT_DOUBLE_EQ(step(0x1p26), 2 * (1 + 2.25) + 0.5 + 1);
}

// data 4 over x, context 4 over y, fsdp 4 over z, no remat: t = 1024, again forward 2^35 FLOPs.
//   gather = 2 P / 2^24 = 1.5 (two axes), scatter = 1.5 + 2 x P / 16 x 2 / 2^23 = 1.875,
//   kv = 2^24 / 2^23 = 2
//   forward max(1, 1.5 + 2) = 3.5             backward max(2, 1.5 + 1.875 + 4) = 7.375
//   unembedding: max(0.5, 1) + max(1, 1 + 0.25) = 2.25
TEST(Analytic, BookStepOfDataContextAndFsdpByHand) {
    TrainingPlan plan = book_plan(1 << 16);
    plan.ways.data = plan.ways.context = plan.ways.fsdp = 4;
    plan.remat.policy = RematPolicy::none;
    const DeviceMesh mesh(torus(4, 4, 4),
                          {{"data", {{0, 1, 4}}}, {"context", {{1, 1, 4}}}, {"fsdp", {{2, 1, 4}}}});
    EXPECT_DOUBLE_EQ(book_step(book_model(2), plan, mesh, rates(0x1p35, 1, 0x1p22)).time.value(),
                     2 * (3.5 + 7.375) + 2.25);
    // a doubles: 1.25 s forward, which communication hides; without communication it shows.
    plan.attention.causal = false;
    EXPECT_DOUBLE_EQ(book_step(book_model(2), plan, mesh, rates(0x1p35, 1, 0x1p42)).time.value(),
                     2 * (1.25 + 2.5) + 0.5 + 1);
}

}  // namespace
}  // namespace podsim::workloads
