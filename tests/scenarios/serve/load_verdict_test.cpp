// Verdicts on loads, for runs written by hand and for runs of the loop.
#include <cmath>
#include <gtest/gtest.h>

#include "scenarios/src/serve/summary.h"
#include "tests/scenarios/serve/step_times_by_hand.h"

namespace podsim::scenarios {
namespace {

using by_hand::LinearStepTimes;
using by_hand::us;

/// n requests, one a second, taken on arrival; `leaves` returns the end of request i in
/// milliseconds.
template <typename Leaves>
ServingResult one_a_second(std::int64_t n, Leaves leaves) {
    ServingResult result;
    for (std::int64_t i = 0; i < n; ++i) {
        const sim::Time arrival = us(1000000 * i);
        result.requests.push_back({.prompt = 1,
                                   .output = 1,
                                   .prefix = 0,
                                   .arrived = arrival,
                                   .started = arrival,
                                   .first = arrival,
                                   .finished = us(1000 * leaves(i))});
    }
    return result;
}

/// 300 s each: from the 300th arrival on 300 are in the system (Little), more than a walk of 1000
/// would leave. The last of 1000 arrivals sees no more than the middle one.
TEST(LoadVerdict, a_served_load_holds_rate_times_latency) {
    const auto result = one_a_second(1000, [](std::int64_t i) { return 1000 * (i + 300); });
    const LoadVerdict verdict = load_verdict_of(result, true);
    EXPECT_EQ(verdict.in_system, 300);
    EXPECT_DOUBLE_EQ(verdict.growth, 0);
    EXPECT_DOUBLE_EQ(verdict.growth_per_s, 0);
    EXPECT_DOUBLE_EQ(verdict.limit, 3 * std::sqrt(1200));
    EXPECT_FALSE(verdict.overloaded);
    EXPECT_FALSE(verdict.too_short);
}

/// 800 s each: the system still fills when the middle request arrives at 499 s.
TEST(LoadVerdict, a_system_that_fills_cannot_tell) {
    const auto result = one_a_second(1000, [](std::int64_t i) { return 1000 * (i + 800); });
    const LoadVerdict verdict = load_verdict_of(result, true);
    EXPECT_EQ(verdict.in_system, 800);
    EXPECT_GT(verdict.growth, verdict.limit);
    EXPECT_DOUBLE_EQ(verdict.first_took_s, 800);
    EXPECT_TRUE(verdict.too_short);
    EXPECT_FALSE(verdict.overloaded);
}

/// Two of three leave, one every 1.5 s, and none is in line. A third of the 500 arrivals after the
/// middle one stays, 166.7 within 500 s, more than 3 sqrt(1200) = 103.9. When the last arrives at
/// 999 s, those of 1.5 s to 999 s have left, 666.
TEST(LoadVerdict, overload_is_growth_wherever_requests_are) {
    const auto result = one_a_second(1000, [](std::int64_t i) { return 1500 * (i + 1); });
    const LoadVerdict verdict = load_verdict_of(result, true);
    EXPECT_EQ(verdict.in_system, 1000 - 666);
    EXPECT_EQ(verdict.in_line, 0);
    EXPECT_NEAR(verdict.growth, 500.0 / 3, 0.1);
    EXPECT_NEAR(verdict.growth_per_s, 1.0 / 3, 0.0002);
    EXPECT_TRUE(verdict.overloaded);
    EXPECT_FALSE(verdict.too_short);
    EXPECT_FALSE(load_verdict_of(result, false).overloaded);
}

/// All but the first 7 of n requests stay: from the middle arrival on the number grows by one with
/// each. 22 exceed the 3 sqrt(1.2 x 44) = 21.8 of chance; 21 are within the 21.55 of 43.
TEST(LoadVerdict, of_43_requests_chance_explains_all) {
    const auto leaves = [](std::int64_t i) { return i < 7 ? 1000 * (i + 1) : 1000000; };
    const LoadVerdict more = load_verdict_of(one_a_second(44, leaves), true);
    EXPECT_DOUBLE_EQ(more.growth, 22);
    EXPECT_TRUE(more.overloaded);
    const LoadVerdict few = load_verdict_of(one_a_second(43, leaves), true);
    EXPECT_DOUBLE_EQ(few.growth, 21);
    EXPECT_TRUE(few.too_short);
    EXPECT_FALSE(few.overloaded);
}

/// Batches of 100 leave together. 1 to 100 are in the system, a saw of 5.5 teeth from the middle
/// arrival on, with 50 at its beginning and 100 at its end. A line through a saw of k whole teeth
/// rises by 1 / k of one.
TEST(LoadVerdict, batches_that_leave_together_are_no_growth) {
    const auto result =
        one_a_second(1100, [](std::int64_t i) { return 1000 * (i / 100 + 1) * 100; });
    const LoadVerdict verdict = load_verdict_of(result, true);
    EXPECT_EQ(verdict.in_system, 100);
    EXPECT_LT(std::abs(verdict.growth), 100.0 / 5);
    EXPECT_FALSE(verdict.overloaded);
    EXPECT_FALSE(verdict.too_short);
}

/// Prompts take 10 us, transfers of their caches 200 us; one arrives every 100 us. None waits in a
/// line, all for their transfer.
TEST(LoadVerdict, counts_caches_that_wait_for_their_way) {
    LinearStepTimes times;
    times.prompt = 1;
    times.sequence = 1;
    ServingSpec spec;
    spec.load.rate = 1e4;
    spec.load.requests = 2000;
    spec.load.prompt.least = 10;
    spec.load.output.least = 2;
    spec.batching.slots = 64;
    spec.disaggregation = DisaggregationSpec{.backlog = 1 << 20,
                                             .a_token = sim::Bytes(20),
                                             .rate = sim::BytesPerSecond(1e6),
                                             .latency = {}};
    const ServingResult result = by_hand::serve(spec, times);
    EXPECT_LT(result.queue.at_last_arrival, 10);
    const LoadVerdict verdict = load_verdict_of(result, true);
    EXPECT_TRUE(verdict.overloaded);
    EXPECT_NEAR(verdict.growth, 500, 100);  // half of 1000
}

}  // namespace
}  // namespace podsim::scenarios
