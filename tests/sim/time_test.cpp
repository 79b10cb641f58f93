#include "sim/time.h"

#include <gtest/gtest.h>
#include <limits>

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
