// Random numbers are the same on every machine.
#include "sim/base/random.h"

#include <cmath>
#include <gtest/gtest.h>

namespace podsim::sim {
namespace {

/// The first outputs of SplitMix64 for the seed 1234567,
/// as its author publishes them (S. Vigna, splitmix64.c).
TEST(RandomTest, IsSplitMix64) {
    std::uint64_t state = 1234567;
    EXPECT_EQ(next_random(state), 6457827717110365317U);
    EXPECT_EQ(next_random(state), 3203168211198807973U);
    EXPECT_EQ(next_random(state), 9817491932198370423U);
    EXPECT_EQ(state, 1234567 + 3 * 0x9e3779b97f4a7c15U);
}

/// A near-normal number is the sum of twelve uniform numbers of 53 bits, added in sequence, less 6.
TEST(RandomTest, NearNormalIsASumOfTwelve) {
    std::uint64_t state = 42;
    std::uint64_t same = 42;
    double sum = 0;
    for (int i = 0; i < 12; ++i) {
        sum += static_cast<double>(next_random(same) >> 11U) / 9007199254740992.0;
    }
    EXPECT_EQ(near_normal(state), sum - 6);
    EXPECT_EQ(state, same);
}

/// The mean is 0 and the variance 1, within four standard
/// errors of 100,000 draws (the fourth moment is 2.9).
TEST(RandomTest, NearNormalHasMeanZeroAndVarianceOne) {
    constexpr int kDraws = 100'000;
    std::uint64_t state = 5;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
        const double x = near_normal(state);
        sum += x;
        squares += x * x;
    }
    EXPECT_NEAR(sum / kDraws, 0, 4 / std::sqrt(kDraws));
    EXPECT_NEAR(squares / kDraws, 1, 4 * std::sqrt(1.9 / kDraws));
}

TEST(RandomTest, ExponentialIsThatOfTheLibrary) {
    for (double x = -600; x <= 600; x += 0.37) {
        EXPECT_NEAR(exponential(x) / std::exp(x), 1, 2e-15) << x;
    }
    EXPECT_EQ(exponential(0), 1);
}

}  // namespace
}  // namespace podsim::sim
