// The time of an operation at the efficiency of a profile.
#include "workloads/bounds/compute_time.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace podsim::workloads {
namespace {

/// 1 FLOP, 1 byte and 1 elementwise operation a second.
MachineRates unit_rates() {
    return {.flops = sim::FlopsPerSecond(1),
            .hbm = sim::BytesPerSecond(1),
            .ici_one_way = sim::BytesPerSecond(1),
            .mxu_dimension = 128,
            .vpu = sim::FlopsPerSecond(1)};
}

/// Returns work of 1000 FLOPs, `bytes` of the matmul
/// and `elementwise` more, and `vector` operations.
Compute work(double bytes, double elementwise, double vector) {
    return {.flops = sim::Flops(1000),
            .matmuls = {{1024, 2048, 4096, 1}},
            .hbm = sim::Bytes(bytes + elementwise),
            .vector = sim::Flops(vector),
            .elementwise = sim::Bytes(elementwise)};
}

double seconds(const Compute& work, const topology::Efficiency& efficiency) {
    MachineRates rates = unit_rates();
    rates.efficiency = efficiency;
    return compute_time(work, rates).total().value();
}

// The smallest dimension is 1024: the efficiency is mxu x 1024 / (1024 + ramp).
TEST(ComputeTimeReached, MatmulsTakeTheShareOfTheirSmallestDimension) {
    EXPECT_DOUBLE_EQ(seconds(work(0, 0, 0), {.mxu = 0.5}), 2000);
    EXPECT_DOUBLE_EQ(seconds(work(0, 0, 0), {.mxu = 0.5, .mxu_ramp = 1024}), 4000);
    EXPECT_DOUBLE_EQ(seconds(work(0, 0, 0), {.attention = 0.5}), 1000);
    Compute attention = work(0, 0, 0);
    attention.attention = true;
    EXPECT_DOUBLE_EQ(seconds(attention, {.mxu = 0.1, .mxu_ramp = 1024, .attention = 0.5}), 2000);
}

// fp32 at `highest` passes six times through the array, at any efficiency; bytes move once.
TEST(ComputeTimeReached, PassesMultiplyTheTimeOfTheArray) {
    Compute precise = work(100, 0, 0);
    precise.passes = 6;
    const ComputeTime time = compute_time(precise, unit_rates());
    EXPECT_DOUBLE_EQ(time.mxu.value(), 6000);
    EXPECT_DOUBLE_EQ(time.mxu_padded.value(), 6000);
    EXPECT_DOUBLE_EQ(time.hbm.value(), 100);
    EXPECT_DOUBLE_EQ(seconds(precise, {.mxu = 0.5}), 12000);
}

// The work takes 1000 s in bf16 and 500 s at twice the rate; at an 8-bit efficiency of 0.5 x 0.5 it
// takes 2000 s. Attention has its own efficiency.
TEST(ComputeTimeReached, MatmulsOfEightBitsTakeAShareOfThatShare) {
    MachineRates rates = unit_rates();
    rates.int8 = rates.fp8 = sim::FlopsPerSecond(2);
    rates.efficiency = {.mxu = 0.5, .mxu_8bit = 0.5};
    const auto total = [&](const Compute& one) { return compute_time(one, rates).total().value(); };
    EXPECT_DOUBLE_EQ(total(work(0, 0, 0)), 2000);
    for (const MatmulDtype dtype : {MatmulDtype::int8, MatmulDtype::fp8}) {
        Compute narrow = work(0, 0, 0);
        narrow.dtype = dtype;
        EXPECT_DOUBLE_EQ(total(narrow), 2000);
        narrow.attention = true;
        EXPECT_DOUBLE_EQ(total(narrow), 500);
    }
    // At the rate of bf16 they are multiplied as bf16 is.
    rates.fp8 = rates.flops;
    Compute narrow = work(0, 0, 0);
    narrow.dtype = MatmulDtype::fp8;
    EXPECT_DOUBLE_EQ(total(narrow), 2000);
    rates.efficiency.mxu_8bit = 0.9;
    EXPECT_DOUBLE_EQ(total(narrow), 2000);
}

// Gradients have their own efficiency if it is given. Forward with a known maximum has 1.28 times
// its efficiency, but never exceeds the peak.
TEST(ComputeTimeReached, AttentionHasTwoShares) {
    Compute attention = work(0, 0, 0);
    attention.attention = true;
    EXPECT_DOUBLE_EQ(seconds(attention, {.attention = 0.5, .attention_backward = 0.8}), 2000);
    attention.known_max_logit = true;
    EXPECT_DOUBLE_EQ(seconds(attention, {.attention = 0.5, .attention_backward = 0.8}), 1562.5);
    EXPECT_DOUBLE_EQ(seconds(attention, {.attention = 0.9}), 1000);
    attention.known_max_logit = false;
    attention.attention_gradient = true;
    EXPECT_DOUBLE_EQ(seconds(attention, {.attention = 0.5, .attention_backward = 0.8}), 1250);
    EXPECT_DOUBLE_EQ(seconds(attention, {.attention = 0.5}), 2000);
}

// 10 steps take 60 s beside 100 s of bytes, two at a time on two cores, and 10 take 40 s beside
// 20 s, after 8 s of masks. At an efficiency of 0.5 with 6 s a step
//   10 (max(120, 100) + 6 / 2) + 10 (max(80 + 8, 20) + 6)
TEST(ComputeTimeReached, KernelsTakeTheLongerOfTileAndBytesStepByStep) {
    Compute grouped = work(0, 0, 0);
    grouped.kernel = true;
    grouped.steps = {{.count = 10, .tile = {5, 3, 2}, .bytes = 100, .masked = 0, .cores = 2},
                     {.count = 10, .tile = {5, 2, 2}, .bytes = 20, .masked = 8, .cores = 1}};
    MachineRates rates = unit_rates();
    rates.mxu_dimension = 1;
    const auto total = [&](const topology::Efficiency& efficiency) {
        rates.efficiency = efficiency;
        return compute_time(grouped, rates).total().value();
    };
    EXPECT_DOUBLE_EQ(total({.mxu = 0.9, .mxu_grouped = 0.5, .grid_step_s = 6}),
                     10 * (120 + 3) + 10 * (88 + 6));
    // Without its own efficiency it has that of other matmuls; bytes then bound the first ten.
    EXPECT_DOUBLE_EQ(total({.mxu = 1, .grid_step_s = 6}), 10 * (100 + 3) + 10 * (48 + 6));
    // In the ideal profile blocks arrive before they are needed.
    EXPECT_DOUBLE_EQ(total({.mxu_grouped = 0.5}), 2000);
    // A tile fills the array: on 4 x 4 it takes 5 x 4 x 4.
    rates.mxu_dimension = 4;
    EXPECT_DOUBLE_EQ(total({.mxu_grouped = 1, .grid_step_s = 6}), 10 * (160 + 3) + 10 * (168 + 6));
}

// Work of the vector unit beside a tile overlaps with it, and a loop inside a kernel begins its
// next step at once: 10 max(60 / 0.5, 150, 100).
TEST(ComputeTimeReached, AStepOfAKernelsLoopTakesTheLongestOfItsParts) {
    Compute attention = work(0, 0, 0);
    attention.attention = true;
    attention.steps = {{.count = 10, .tile = {5, 3, 2}, .bytes = 100, .beside = 150, .loop = true}};
    MachineRates rates = unit_rates();
    rates.mxu_dimension = 1;
    const auto total = [&](double beside) {
        attention.steps.front().beside = beside;
        rates.efficiency = {.grid_step_s = 6, .attention = 0.5};
        return compute_time(attention, rates).total().value();
    };
    EXPECT_DOUBLE_EQ(total(250), 2500);
    EXPECT_DOUBLE_EQ(total(0), std::max(2000.0, 10 * 120.0));
    attention.flops = sim::Flops(10);
    EXPECT_DOUBLE_EQ(total(150), 1500);
    EXPECT_DOUBLE_EQ(total(0), 1200);
    attention.steps.front().loop = false;
    EXPECT_DOUBLE_EQ(total(150), 1560);
}

// Products without rows take no time, alone or beside another: 2000 s as above.
TEST(ComputeTimeReached, NoRowsTakeNoTime) {
    Compute none;
    none.matmuls = {{0, 2048, 4096, 8}};
    EXPECT_EQ(seconds(none, {.mxu = 0.5}), 0);
    Compute both = work(0, 0, 0);
    both.matmuls.push_back({0, 2048, 4096, 8});
    EXPECT_DOUBLE_EQ(seconds(both, {.mxu = 0.5}), 2000);
}

// Fused, the work takes max(1000, 300 + 200, 100) =
// 1000; unfused max(1000, 300) + max(200, 100) = 1200.
TEST(ComputeTimeReached, ElementwiseWorkHidesAsFarAsItIsFused) {
    EXPECT_DOUBLE_EQ(seconds(work(300, 200, 100), {}), 1000);
    EXPECT_DOUBLE_EQ(seconds(work(300, 200, 100), {.fusion = 0}), 1200);
    EXPECT_DOUBLE_EQ(seconds(work(300, 200, 100), {.fusion = 0.25}), 1150);
    // The vector unit bounds the elementwise time, which doubles at half its rate.
    EXPECT_DOUBLE_EQ(seconds(work(300, 200, 400), {.fusion = 0}), 1400);
    EXPECT_DOUBLE_EQ(seconds(work(300, 200, 400), {.vpu = 0.5, .fusion = 0}), 1800);
    // Memory bounds the matmul: max(1000, 1500) + 200.
    EXPECT_DOUBLE_EQ(seconds(work(1500, 200, 100), {.fusion = 0}), 1700);
}

// A grouped matmul has its elementwise work before or behind it; attention's efficiency is measured
// with its softmax inside.
TEST(ComputeTimeReached, KernelsOfTheirOwnFuseNothingOrAll) {
    Compute grouped = work(300, 200, 100);
    grouped.kernel = true;
    EXPECT_DOUBLE_EQ(seconds(grouped, {.fusion = 0.9}), 1200);
    EXPECT_DOUBLE_EQ(seconds(grouped, {}), 1000);
    Compute attention = work(300, 200, 100);
    attention.attention = true;
    EXPECT_DOUBLE_EQ(seconds(attention, {.fusion = 0}), 1000);
    attention.vector = sim::Flops(1700);
    EXPECT_DOUBLE_EQ(seconds(attention, {.fusion = 0}), 1700);
}

// 100 of 200 elementwise bytes are gathered by indices. At the rate of 1,
// which is 0.8 of a peak of 1.25, they take 100; at 0.2 of the peak 400.
// Unfused they take 1000 + 100 + 400, fused max(1000, 300 + 100 + 400).
TEST(ComputeTimeReached, RowsThatIndicesNameHaveTheirShare) {
    Compute rows = work(300, 200, 0);
    rows.gathered = sim::Bytes(100);
    EXPECT_DOUBLE_EQ(seconds(rows, {.hbm = 0.8, .fusion = 0, .gather = 0.2}), 1500);
    EXPECT_DOUBLE_EQ(seconds(rows, {.hbm = 0.8, .fusion = 1, .gather = 0.2}), 1000);
    EXPECT_DOUBLE_EQ(seconds(rows, {.hbm = 0.8, .fusion = 1, .gather = 0.08}), 1400);
    // Gathering is never faster than a copy.
    EXPECT_DOUBLE_EQ(seconds(rows, {.hbm = 0.8, .fusion = 0, .gather = 1}), 1200);
}

}  // namespace
}  // namespace podsim::workloads
