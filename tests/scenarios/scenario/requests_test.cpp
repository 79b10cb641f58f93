// Draws against their distributions, requests against their seeds.
#include <cmath>
#include <gtest/gtest.h>
#include <map>

#include "scenarios/src/scenario/arrivals.h"

namespace podsim::scenarios {
namespace {

TEST(Draws, logarithms_are_those_of_the_library_within_some_units_in_the_last_place) {
    for (double x = 1e-17; x < 1e17; x *= 1.37) {
        EXPECT_NEAR(natural_logarithm(x), std::log(x), 4e-16 * std::max(1.0, std::abs(std::log(x))))
            << x;
    }
    EXPECT_EQ(natural_logarithm(1), 0);
}

/// Means and variances of 200000 draws, within four standard deviations: uniform 1/2 and 1/12,
/// exponential 1 and 1 (the fourth central moment is 9, so the sample variance has sqrt(8 / n)),
/// normal 0 and 1 (sqrt(2 / n)).
TEST(Draws, have_the_moments_of_their_distributions) {
    constexpr double n = 200000;
    const auto moments = [&](auto draw) {
        Draws draws(1, 0);
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < n; ++i) {
            const double x = draw(draws);
            sum += x;
            squares += x * x;
        }
        return std::pair(sum / n, squares / n - sum / n * (sum / n));
    };
    const auto uniform = moments([](Draws& d) { return d.uniform(); });
    EXPECT_NEAR(uniform.first, 0.5, 4 * std::sqrt(1 / 12.0 / n));
    EXPECT_NEAR(uniform.second, 1 / 12.0, 4 * std::sqrt(1 / 180.0 / n));
    const auto exponential = moments([](Draws& d) { return d.exponential(); });
    EXPECT_NEAR(exponential.first, 1, 4 * std::sqrt(1 / n));
    EXPECT_NEAR(exponential.second, 1, 4 * std::sqrt(8 / n));
    const auto normal = moments([](Draws& d) { return d.normal(); });
    EXPECT_NEAR(normal.first, 0, 4 * std::sqrt(1 / n));
    EXPECT_NEAR(normal.second, 1, 4 * std::sqrt(2 / n));
}

TEST(Draws, whole_numbers_include_both_ends) {
    Draws draws(3, 0);
    std::map<std::int64_t, int> seen;
    for (int i = 0; i < 6000; ++i) {
        ++seen[draws.whole(-1, 4)];
    }
    ASSERT_EQ(seen.size(), 6U);
    EXPECT_EQ(seen.begin()->first, -1);
    for (const auto& [number, times] : seen) {
        EXPECT_NEAR(times, 1000, 4 * std::sqrt(1000 * 5 / 6.0)) << number;
    }
}

/// Fixed results of a seed: other machines must get the same.
TEST(Draws, are_the_same_on_every_machine) {
    Draws draws(1, 2);
    EXPECT_EQ(draws.whole(0, 999999), 272511);
    EXPECT_EQ(draws.uniform(), 0.3601142845091122);
    EXPECT_EQ(draws.exponential(), 1.9827900536763576);
    EXPECT_EQ(draws.normal(), 0.77855949646432387);
}

/// Lognormal lengths have the stated mean, e^(mu + sigma^2 / 2), and the variance
/// (e^(sigma^2) - 1) mean^2.
TEST(Lengths, of_a_lognormal_have_its_mean_and_limits) {
    Draws draws(5, 0);
    const LengthSpec wide{
        .kind = LengthKind::lognormal, .least = 1, .most = 1 << 24, .mean = 500, .sigma = 0.5};
    double sum = 0;
    constexpr int n = 100000;
    for (int i = 0; i < n; ++i) {
        sum += static_cast<double>(draw_length(wide, draws));
    }
    EXPECT_NEAR(sum / n, 500, 4 * 500 * std::sqrt((std::exp(0.25) - 1) / n));
    LengthSpec held = wide;
    held.least = 400;
    held.most = 600;
    std::map<std::int64_t, int> seen;
    for (int i = 0; i < 1000; ++i) {
        ++seen[draw_length(held, draws)];
    }
    EXPECT_EQ(seen.begin()->first, 400);
    EXPECT_EQ(seen.rbegin()->first, 600);
    EXPECT_EQ(longest(held), 600);
    EXPECT_EQ(longest({.kind = LengthKind::fixed, .least = 7}), 7);
}

LoadSpec some_load() {
    LoadSpec load;
    load.rate = 4;
    load.requests = 20000;
    load.prompt = {.kind = LengthKind::uniform, .least = 5, .most = 9};
    load.output = {.kind = LengthKind::uniform, .least = 1, .most = 3};
    return load;
}

/// 20000 arrivals at 4 a second take 5000 s, within 4 sqrt(20000) / 4.
TEST(Requests, of_poisson_arrivals_come_at_their_rate) {
    const std::vector<Request> requests = draw_requests(some_load());
    ASSERT_EQ(requests.size(), 20000U);
    EXPECT_NEAR(requests.back().arrival.seconds(), 5000, std::sqrt(20000.0));
    for (std::size_t i = 1; i < requests.size(); ++i) {
        ASSERT_LE(requests[i - 1].arrival, requests[i].arrival);
    }
}

TEST(Requests, are_those_of_their_seed_and_keep_their_lengths_at_another_rate) {
    LoadSpec load = some_load();
    const std::vector<Request> requests = draw_requests(load);
    EXPECT_EQ(draw_requests(load), requests);
    load.rate = 8;
    const std::vector<Request> faster = draw_requests(load);
    EXPECT_NE(faster.back().arrival, requests.back().arrival);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        ASSERT_EQ(faster[i].prompt, requests[i].prompt);
        ASSERT_EQ(faster[i].output, requests[i].output);
    }
    load.seed = 2;
    EXPECT_NE(draw_requests(load), faster);
}

/// The prefix is rounded down, and never the whole prompt; a common prefix needs a longer prompt.
TEST(Requests, have_a_prefix_in_the_cache) {
    LoadSpec load = some_load();
    load.prefix_share = 0.5;
    for (const Request& request : draw_requests(load)) {
        ASSERT_EQ(request.prefix, request.prompt / 2);
    }
    load.prefix_share = 1;
    ASSERT_EQ(draw_requests(load)[0].prefix, draw_requests(load)[0].prompt - 1);
    load.common_prefix = 7;
    for (const Request& request : draw_requests(load)) {
        ASSERT_EQ(request.prefix, request.prompt > 7 ? 7 : 0);
    }
}

/// With separate arrivals, lengths are rows of the trace.
TEST(Requests, draw_their_lengths_from_a_trace) {
    LoadSpec load = some_load();
    Request row;
    row.prompt = 10;
    row.output = 2;
    load.trace.assign(2, row);
    load.trace[1].prompt = 20;
    load.trace[1].output = 3;
    int second = 0;
    for (const Request& request : draw_requests(load)) {
        ASSERT_EQ(request.output, request.prompt == 10 ? 2 : 3);
        second += request.prompt == 20 ? 1 : 0;
    }
    EXPECT_NEAR(second, 10000, 4 * std::sqrt(5000));
    load.arrivals = ArrivalKind::trace;
    EXPECT_EQ(draw_requests(load), load.trace);
    load.requests = 1;
    EXPECT_EQ(draw_requests(load).size(), 1U);
}

}  // namespace
}  // namespace podsim::scenarios
