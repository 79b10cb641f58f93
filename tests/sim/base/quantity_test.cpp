#include "sim/base/quantity.h"

#include <gtest/gtest.h>
#include <type_traits>

namespace podsim::sim {
namespace {

template <class A, class B>
concept Adds = requires(A a, B b) {
    a + b;
};
template <class A, class B>
concept Divides = requires(A a, B b) {
    a / b;
};
template <class A, class B>
concept Compares = requires(A a, B b) {
    a < b;
};

// Mixing dimensions or bare numbers does not compile.
static_assert(Adds<Bytes, Bytes>);
static_assert(!Adds<Bytes, Flops>);
static_assert(!Adds<Bytes, double>);
static_assert(!Compares<Seconds, Bytes>);
static_assert(!Divides<Bytes, FlopsPerSecond>);
static_assert(!Divides<Seconds, Bytes>);
static_assert(!std::is_convertible_v<double, Bytes>);
static_assert(!std::is_convertible_v<Bytes, double>);
static_assert(std::is_same_v<decltype(Bytes() / BytesPerSecond()), Seconds>);
static_assert(std::is_same_v<decltype(Flops() / FlopsPerSecond()), Seconds>);
static_assert(std::is_same_v<decltype(Bytes() / Seconds()), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Flops() / Seconds()), FlopsPerSecond>);
static_assert(std::is_same_v<decltype(Bytes() / Bytes()), double>);

TEST(QuantityTest, Arithmetic) {
    Bytes b(6);
    b += Bytes(4);
    b -= Bytes(1);
    b *= 2;
    EXPECT_EQ(b.value(), 18);
    EXPECT_EQ((Bytes(3) + Bytes(4)).value(), 7);
    EXPECT_EQ((Bytes(3) - Bytes(4)).value(), -1);
    EXPECT_EQ((2.0 * Bytes(3)).value(), 6);
    EXPECT_EQ((Bytes(3) * 2.0).value(), 6);
    EXPECT_EQ((Bytes(3) / 2.0).value(), 1.5);
    EXPECT_EQ(Bytes(3) / Bytes(2), 1.5);
    EXPECT_EQ((Bytes(9e10) / BytesPerSecond(4.5e10)).value(), 2);
    EXPECT_EQ((Flops(10) / FlopsPerSecond(4)).value(), 2.5);
    EXPECT_EQ((Bytes(10) / Seconds(4)).value(), 2.5);
    EXPECT_LT(Bytes(1), Bytes(2));
    EXPECT_EQ(Bytes().value(), 0);
}

TEST(QuantityTest, AnInfiniteRateMakesNoDuration) {
    EXPECT_EQ((Bytes(5) / BytesPerSecond::infinity()).value(), 0);
    EXPECT_GT(Seconds::infinity(), Seconds(1e300));
}

}  // namespace
}  // namespace podsim::sim
