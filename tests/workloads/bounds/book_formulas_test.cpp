// The reference text's formulas with exact inputs, against sums done by hand.
#include "workloads/bounds/book_formulas.h"

#include <cmath>
#include <gtest/gtest.h>

#include "workloads/models/model.h"
#include "workloads/program/memory_peak.h"

namespace podsim::workloads {
namespace {

const sim::FlopsPerSecond kPeak(4.59e14);
const sim::BytesPerSecond kOneWay(9e10);
constexpr double kAlpha = 2550;

TEST(BookFormulas, IntensityAndTheBoundOfFsdp) {
    EXPECT_EQ(ici_intensity(kPeak, kOneWay), kAlpha);
    EXPECT_EQ(least_tokens_per_chip(kAlpha, 1), 2550);
    EXPECT_EQ(least_tokens_per_chip(kAlpha, 2), 1275);
    EXPECT_EQ(least_tokens_per_chip(kAlpha, 3), 850);
}

TEST(BookFormulas, TheBoundOfTensorParallelism) {
    EXPECT_EQ(most_tensor_ways(kAlpha, 1, 25500), 10);
    EXPECT_EQ(most_tensor_ways(kAlpha, 2, 25500), 20);
}

// F = 102 and alpha = 51: alpha^2 / F = 25.5. Two axes of FSDP give half of it; one after the other
// they take four times that.
TEST(BookFormulas, TheBoundsOfBothTogether) {
    EXPECT_EQ(least_tokens_per_chip_concurrent(51, {8, 4, 1, 1}, 102), 25.5);
    EXPECT_EQ(least_tokens_per_chip_concurrent(51, {8, 4, 2, 1}, 102), 12.75);
    EXPECT_EQ(least_tokens_per_chip_mixed(51, {8, 4, 2, 1}, 102), 51);
    EXPECT_EQ(least_tokens_per_chip_mixed(kAlpha, {16, 4, 2, 1}, 32768), 6502500.0 / 16384);
}

TEST(BookFormulas, OptimalFsdpWaysBalanceTheTwo) {
    // The optimum is sqrt(50 x 2 x 64 / 4) = 40.
    EXPECT_EQ(optimal_fsdp_ways(50, 64, {16, 4, 2, 1}, 4), 40);
    EXPECT_EQ(optimal_fsdp_ways(50, 64, {16, 4, 1, 2}, 16), 10);
    // At N = 64, B = 256, F = 1024, M_X = M_Y = 1 the optimum is X = 4: X / B = Y / F = 1 / 64.
    // Neighbouring powers of two are worse.
    EXPECT_EQ(optimal_fsdp_ways(256, 64, {1, 1, 1, 1}, 1024), 4);
    const auto time = [](int fsdp, int tensor) {
        return communication_to_compute(8, 256, {fsdp, tensor, 1, 1}, 1024);
    };
    EXPECT_EQ(time(4, 16), 8 * (4.0 / 256 + 16.0 / 1024));
    EXPECT_LT(time(4, 16), time(2, 32));
    EXPECT_LT(time(4, 16), time(8, 8));
}

// The mixed bound makes the ratio 1 at the optimum: B / N = 4 alpha^2 / (M_X M_Y F).
TEST(BookFormulas, TheMixedBoundIsWhereTheRatioIsOne) {
    // alpha = 8, F = 1024: 4 x 64 / 1024 = 1/4 tokens a chip. 1024 chips: B = 256, X = 16, Y = 64.
    EXPECT_EQ(least_tokens_per_chip_mixed(8, {1, 1, 1, 1}, 1024), 0.25);
    EXPECT_EQ(optimal_fsdp_ways(256, 1024, {1, 1, 1, 1}, 1024), 16);
    EXPECT_EQ(communication_to_compute(8, 256, {16, 64, 1, 1}, 1024), 1);
}

// alpha = 8, B = 400, N = F = 64: B / (2 alpha) = 25, B N / F = 400, so 25 +- 15; at both ends the
// ratio is 1, and between them below. With twice the chips 625 - 800 is below zero.
TEST(BookFormulas, ComputeBoundWaysAreWhereTheRatioIsOne) {
    const FsdpWays ways = compute_bound_fsdp_ways(8, 400, 64, {1, 1, 1, 1}, 64);
    EXPECT_EQ(ways.least, 10);
    EXPECT_EQ(ways.most, 40);
    const auto ratio = [](double fsdp, double tensor) { return 8 * (fsdp / 400 + tensor / 64); };
    EXPECT_EQ(ratio(10, 6.4), 1);
    EXPECT_EQ(ratio(40, 1.6), 1);
    EXPECT_LT(ratio(20, 3.2), 1);
    // Two axes of FSDP act as twice the tokens: 50 +- sqrt(2500 - 800).
    EXPECT_DOUBLE_EQ(compute_bound_fsdp_ways(8, 400, 64, {1, 1, 2, 1}, 64).most,
                     50 + std::sqrt(1700.0));
    EXPECT_EQ(compute_bound_fsdp_ways(8, 400, 128, {1, 1, 1, 1}, 64).most, 0);
}

TEST(BookFormulas, AGroupOfOneDoesNotCommunicate) {
    EXPECT_EQ(communication_to_compute(kAlpha, 5100, {2, 1, 1, 1}, 100), 1);
    EXPECT_EQ(communication_to_compute(kAlpha, 5100, {1, 10, 1, 1}, 25500), 1);
    EXPECT_EQ(communication_to_compute(kAlpha, 5100, {1, 1, 1, 1}, 25500), 0);
}

TEST(BookFormulas, BetweenSlices) {
    EXPECT_EQ(least_tokens_per_slice(kPeak, 4, sim::BytesPerSecond(2.5e10)), 73440);
}

TEST(BookFormulas, TrainingRuns) {
    EXPECT_EQ(book_training_flops(70e9, 15e12).value(), 6.3e24);
    // 100 chips run at half of 10 FLOP/s.
    EXPECT_EQ(book_training_time(sim::Flops(5000), 100, sim::FlopsPerSecond(10), 0.5).value(), 10);
}

TEST(BookFormulas, LayoutsOfMeshes) {
    const topology::Lattice slice{{4, 4, 8}, {true, true, true}, {}};
    const BookLayout mixed = book_layout(topology::DeviceMesh(
        slice,
        {{"fsdp", {{0, 1, 4}, {2, 2, 4}}}, {"context", {{2, 1, 2}}}, {"tensor", {{1, 1, 4}}}}));
    EXPECT_EQ(mixed.fsdp_ways, 32);
    EXPECT_EQ(mixed.tensor_ways, 4);
    EXPECT_EQ(mixed.fsdp_axes, 2);
    EXPECT_EQ(mixed.tensor_axes, 1);
    const BookLayout alone =
        book_layout(topology::DeviceMesh(slice, {{"data", {{0, 1, 4}, {1, 1, 4}, {2, 1, 8}}}}));
    EXPECT_EQ(alone.fsdp_ways, 128);
    EXPECT_EQ(alone.fsdp_axes, 3);
    EXPECT_EQ(alone.tensor_ways, 1);
    EXPECT_EQ(alone.tensor_axes, 1);
}

}  // namespace
}  // namespace podsim::workloads
