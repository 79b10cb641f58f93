#include "sim/base/time.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace podsim::sim {
namespace {

TEST(TimeTest, DurationsRoundUpToAPicosecond) {
    EXPECT_EQ(round_up(Seconds(0)).ps, 0);
    EXPECT_EQ(round_up(Seconds(1e-12)).ps, 1);
    EXPECT_EQ(round_up(Seconds(1e-15)).ps, 1);  // never free
    EXPECT_EQ(round_up(Seconds(1.5e-12)).ps, 2);
    EXPECT_EQ(round_up(Seconds(2e-12)).ps, 2);
    EXPECT_EQ(round_up(Seconds(1e-6)).ps, 1'000'000);
    EXPECT_EQ(round_up(Seconds(1)).ps, 1'000'000'000'000);
    // 8 MiB at 4.5e10 B/s: 186 413 511.1 ps.
    EXPECT_EQ(round_up(Bytes(8388608) / BytesPerSecond(4.5e10)).ps, 186'413'512);
}

TEST(TimeTest, RoundsDownAsWrittenInDecimals) {
    // The double is 1.7e-18 below the decimal; times 1e12 it is 8068057599.999999.
    EXPECT_EQ(round_down(Seconds(0.0080680576)).ps, 8'068'057'600);
    EXPECT_EQ(round_down(Seconds(std::nextafter(0.0080680576, 0))).ps, 8'068'057'599);
    EXPECT_EQ(round_down(Seconds(std::nextafter(0.0080680576, 1))).ps, 8'068'057'600);
    EXPECT_EQ(round_down(Seconds(1.9999e-12)).ps, 1);
    EXPECT_EQ(round_down(Seconds(0)).ps, 0);
    std::mt19937_64 random(3);
    for (int i = 0; i < 100'000; ++i) {
        const auto ps = static_cast<std::int64_t>(random() >> (12 + random() % 50));
        ASSERT_EQ(round_down(Seconds(static_cast<double>(ps) / 1e12)).ps, ps);
    }
}

TEST(TimeTest, AnInfiniteRateTakesNoTime) {
    EXPECT_EQ(round_up(Bytes(1e18) / BytesPerSecond::infinity()).ps, 0);
}

TEST(TimeTest, WhatDoesNotFitIsAnError) {
    EXPECT_EQ(round_up(Seconds(9.1e6)).ps, 9'100'000'000'000'000'000);
    EXPECT_THROW(round_up(Seconds(9.3e6)), TimeOverflow);
    EXPECT_THROW(round_up(Seconds::infinity()), TimeOverflow);
    EXPECT_THROW(round_up(Seconds(std::numeric_limits<double>::quiet_NaN())), TimeOverflow);
    EXPECT_THROW(round_up(Bytes(1) / BytesPerSecond(0)), TimeOverflow);
    EXPECT_THROW(round_up(Bytes(0) / BytesPerSecond(0)), TimeOverflow);
}

TEST(TimeTest, Arithmetic) {
    Time t{5};
    t += Time{3};
    EXPECT_EQ(t, Time{8});
    t -= Time{2};
    EXPECT_EQ(t, Time{4} + Time{2});
    EXPECT_EQ(Time{4} - Time{6}, Time{-2});
    EXPECT_LT(Time{4}, Time{6});
    EXPECT_LT(Time{6}, Time::max());
    EXPECT_DOUBLE_EQ(Time{1'500'000}.seconds(), 1.5e-6);
}

}  // namespace
}  // namespace podsim::sim
