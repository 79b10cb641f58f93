// The loop against queueing theory, and invariants of every run.
#include <cmath>
#include <gtest/gtest.h>

#include "scenarios/src/serve/serving_run.h"
#include "scenarios/src/serve/summary.h"
#include "tests/scenarios/serve/step_times_by_hand.h"

namespace podsim::scenarios {
namespace {

using by_hand::LinearStepTimes;
using by_hand::us;

/// One server, one request at a time, service of exactly 1 ms.
ServingSpec deterministic_server(double requests_per_ms, std::int64_t requests) {
    ServingSpec spec;
    spec.load.rate = 1000 * requests_per_ms;
    spec.load.requests = requests;
    spec.batching.kind = BatchingKind::fixed;
    return spec;
}

/// Pollaczek and Khinchine, M/D/1: the mean wait is rho D / (2 (1 - rho)), 0.5 ms for rho = 0.5 and
/// 1.1667 ms for 0.7. The mean over n waits of an M/M/1 queue has a variance near 2 rho (2 + 5 rho
/// - 4 rho^2 + rho^3) / (1 - rho)^4 / n D^2 (Daley 1968), 29 and 671 for n = 1, above that of
/// M/D/1: 200000 requests are within 3 sqrt(671 / 200000) ms = 0.17 ms, and 0.04 ms.
TEST(ServingStatistics, the_mean_wait_is_that_of_pollaczek_and_khinchine) {
    LinearStepTimes times;
    times.step = 1000;
    for (const auto& [rho, bound] : {std::pair{0.5, 0.04e-3}, std::pair{0.7, 0.17e-3}}) {
        const ServingSpec spec = deterministic_server(rho, 200000);
        const ServingResult result = by_hand::serve(spec, times);
        const ServingSummary summary = summarise(spec, result);
        EXPECT_NEAR(summary.wait.mean, rho / (2 * (1 - rho)) * 1e-3, bound) << rho;
        EXPECT_NEAR(summary.generate_busy, rho, 0.01);
        EXPECT_FALSE(summary.load.overloaded);
        EXPECT_TRUE(result.little.equal);
    }
}

/// The load is half as much again as the server can serve: the queue grows by 0.5 a millisecond,
/// and the verdict says so. About 667 of 2000 requests wait at the last arrival, 333 more than at
/// the middle one; the limit is 3 sqrt(2400) = 147.
TEST(ServingStatistics, an_overloaded_queue_grows_by_what_is_not_served) {
    LinearStepTimes times;
    times.step = 1000;
    const ServingSpec spec = deterministic_server(1.5, 2000);
    const ServingResult result = by_hand::serve(spec, times);
    const LoadVerdict verdict = load_verdict_of(result, true);
    EXPECT_TRUE(verdict.overloaded);
    EXPECT_NEAR(verdict.growth_per_s, 500, 50);
    EXPECT_NEAR(verdict.growth, 333, 70);
    EXPECT_NEAR(static_cast<double>(result.queue.at_last_arrival), 667, 100);
    EXPECT_DOUBLE_EQ(overload_limit(750), 90);
}

/// A step makes 1 + p + ... + p^k = (1 - p^(k+1)) / (1 - p) tokens on average: 3.3616 for k = 4,
/// p = 0.8. Their number has a variance below (k / 2)^2 = 4, so about 30000 steps are within
/// 4 x 2 / sqrt(30000) = 0.046.
TEST(ServingStatistics, speculation_makes_a_truncated_geometric_number_of_tokens) {
    LinearStepTimes times;
    times.step = 1;
    ServingSpec spec;
    spec.load.arrivals = ArrivalKind::concurrency;
    spec.load.output.least = 100000;
    spec.speculation = {.tokens = 4, .acceptance = 0.8};
    const ServingResult result = by_hand::serve(spec, times);
    const ServingSummary summary = summarise(spec, result);
    EXPECT_GT(result.decodes, 29000);
    EXPECT_NEAR(summary.tokens_a_decode, (1 - std::pow(0.8, 5)) / 0.2, 0.046);
    EXPECT_NEAR(summary.accepted_share, (3.3616 - 1) / 4, 0.0115);
}

/// Lengths of all kinds on small caches, by every policy of batching. The audit of every event
/// passes, Little's law holds to the picosecond, every request gets its tokens, and the same seed
/// gives the same run.
TEST(ServingStatistics, every_run_keeps_its_requests) {
    LinearStepTimes times;
    times.step = 200;
    times.sequence = 11;
    times.prompt = 3;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Draws draws(seed, 99);
        ServingSpec spec;
        spec.load.seed = seed;
        spec.load.requests = 150;
        spec.load.rate = 400 * draws.uniform();
        spec.load.arrivals =
            draws.whole(0, 1) == 0 ? ArrivalKind::poisson : ArrivalKind::concurrency;
        spec.load.concurrency = draws.whole(1, 40);
        spec.load.prompt = {
            .kind = LengthKind::lognormal, .least = 1, .most = 90, .mean = 30, .sigma = 1};
        spec.load.output = {.kind = LengthKind::uniform, .least = 1, .most = 40};
        spec.load.prefix_share = draws.whole(0, 1) == 0 ? 0 : 0.5;
        spec.batching.kind = static_cast<BatchingKind>(draws.whole(0, 2));
        spec.batching.slots = draws.whole(1, 12);
        spec.batching.budget = draws.whole(48, 80);
        spec.batching.mixed = draws.whole(0, 1) == 0;
        spec.batching.interleave = draws.whole(0, 2);
        spec.cache.page = draws.whole(1, 8);
        spec.cache.pages = (133 + draws.whole(0, 200)) / spec.cache.page + 2;
        spec.cache.reserve = draws.whole(0, 3) == 0;
        spec.speculation.tokens = draws.whole(0, 3);
        spec.speculation.acceptance = 0.6;
        if (draws.whole(0, 2) == 0) {
            spec.disaggregation = DisaggregationSpec{.prefill_servers = draws.whole(1, 3),
                                                     .generate_servers = draws.whole(1, 3),
                                                     .backlog = draws.whole(0, 4),
                                                     .a_token = sim::Bytes(100),
                                                     .rate = sim::BytesPerSecond(1e8),
                                                     .latency = {}};
        }
        const ServingResult result = by_hand::serve(spec, times);
        EXPECT_TRUE(result.little.equal) << seed;
        for (const ServedRequest& served : result.requests) {
            EXPECT_LE(served.arrived, served.started);
            EXPECT_LT(served.started, served.first);
            EXPECT_LE(served.first, served.finished);
        }
        const ServingSummary summary = summarise(spec, result);
        EXPECT_GE(summary.recomputed, 0);
        EXPECT_EQ(summary.recomputed > 0, summary.preemptions > 0) << seed;
        const ServingResult again = by_hand::serve(spec, times);
        EXPECT_EQ(again.end, result.end);
        EXPECT_EQ(again.gaps, result.gaps);
    }
}

/// Prompts of 10 us. Decode steps of 4 slots take 40 + 4 x 10 = 80 us, nine a request:
/// 9 x 80 / 4 = 180 us. 1 prefill server feeds 18 generate servers; one of each serves 1 / 180 us.
/// At half of that rate prefill is busy for 10 / 360.
TEST(ServingStatistics, prefill_and_generate_servers_balance_as_their_times_of_a_request) {
    LinearStepTimes steps;
    steps.step = 40;
    steps.sequence = 10;
    LinearStepTimes prefill;
    prefill.prompt = 1;
    ServingSpec spec;
    spec.load.rate = 0.5e6 / 180;
    spec.load.requests = 4000;
    spec.load.prompt.least = 10;
    spec.load.output.least = 10;
    spec.batching.slots = 4;
    spec.disaggregation = DisaggregationSpec{};
    const ServingTimes times{.steps = &steps, .prefill = &prefill};
    const Balance balance = balance_of(spec, times);
    EXPECT_DOUBLE_EQ(balance.prefill_s, 10e-6);
    EXPECT_DOUBLE_EQ(balance.generate_s, 180e-6);
    EXPECT_DOUBLE_EQ(balance.context, 14);
    EXPECT_DOUBLE_EQ(balance.ratio, 1.0 / 18);
    EXPECT_DOUBLE_EQ(balance.most_per_s(1, 1), 1 / 180e-6);
    EXPECT_DOUBLE_EQ(balance.most_per_s(1, 36), 1 / 10e-6);
    const ServingSummary summary = summarise(spec, serve(spec, times));
    EXPECT_NEAR(summary.prefill_busy, 10.0 / 360, 0.002);
    EXPECT_LT(summary.slots_used, 0.75);
}

/// 4 sequences read buffers of 20 tokens, one of them new. A step takes
/// 40 + 4 x 10 + 4 x 19 = 156 us with 1 us a cached token, and a request has two; with tokens alone
/// 40 + 4 x 10 + 4 x 10.5 = 122 us. A request reaches 12 tokens.
TEST(ServingStatistics, a_full_generate_server_reads_whole_buffers) {
    LinearStepTimes times;
    times.step = 40;
    times.sequence = 10;
    times.cached = 1;
    ServingSpec spec;
    spec.load.requests = 10;
    spec.load.prompt.least = 10;
    spec.load.output.least = 3;
    spec.batching.slots = 4;
    const auto generate_s = [&] { return balance_of(spec, {.steps = &times}).generate_s; };
    EXPECT_DOUBLE_EQ(generate_s(), 2 * 122e-6 / 4);
    spec.cache.length = 20;
    EXPECT_DOUBLE_EQ(generate_s(), 2 * 156e-6 / 4);
    // Three sequences in a step that is compiled for four.
    spec.batching.slots = 3;
    spec.batching.padding = Padding::power_of_two;
    EXPECT_DOUBLE_EQ(generate_s(), 2 * 156e-6 / 3);
    spec.cache.length = 0;
    EXPECT_DOUBLE_EQ(generate_s(), 2 * (40e-6 + 4 * 10e-6 + std::round(3 * 10.5) * 1e-6) / 3);
}

/// Prompts of 10 and answers of 4 tokens hold 11, 12 and 13 tokens in their three decode steps:
/// three pages of 4; the whole answer needs four. A step takes 40 + 10 n us for n sequences.
TEST(ServingStatistics, a_full_generate_server_holds_what_its_cache_has_room_for) {
    LinearStepTimes times;
    times.step = 40;
    times.sequence = 10;
    ServingSpec spec;
    spec.load.requests = 3000;
    spec.load.prompt.least = 10;
    spec.load.output.least = 4;
    spec.batching.slots = 4;
    spec.cache.page = 4;
    const auto balance = [&] { return balance_of(spec, {.steps = &times}); };
    const auto sequences = [&](std::int64_t pages) {
        spec.cache.pages = pages;
        return balance().sequences;
    };
    EXPECT_EQ(balance().sequences, 4);
    EXPECT_DOUBLE_EQ(balance().generate_s, 3 * 80e-6 / 4);
    EXPECT_EQ(sequences(12), 4);
    EXPECT_EQ(sequences(11), 3);
    EXPECT_EQ(sequences(8), 2);
    EXPECT_DOUBLE_EQ(balance().generate_s, 3 * 60e-6 / 2);
    spec.cache.parts = 2;
    EXPECT_EQ(sequences(11), 2);
    spec.cache.parts = 1;
    spec.load.common_prefix = 5;  // one page of it is full
    EXPECT_EQ(sequences(8), 3);
    spec.load.common_prefix = 0;
    spec.cache.reserve = true;
    EXPECT_EQ(sequences(11), 2);
    // The run agrees: beyond that rate its queue grows.
    spec.disaggregation = DisaggregationSpec{};
    LinearStepTimes prefill;
    prefill.prompt = 1;
    const double most = balance().most_per_s(1, 1);
    spec.load.rate = 1.2 * most;
    EXPECT_TRUE(
        load_verdict_of(serve(spec, {.steps = &times, .prefill = &prefill}), true).overloaded);
    spec.load.rate = 0.9 * most;
    EXPECT_FALSE(
        load_verdict_of(serve(spec, {.steps = &times, .prefill = &prefill}), true).overloaded);
}

/// Beyond the closed form's rate for one of each the queue grows; just below it does not.
TEST(ServingStatistics, the_balance_tells_the_load_that_can_be_served) {
    LinearStepTimes steps;
    steps.step = 40;
    steps.sequence = 10;
    ServingSpec spec;
    spec.load.requests = 3000;
    spec.load.output.least = 10;
    spec.batching.slots = 4;
    spec.disaggregation = DisaggregationSpec{};
    LinearStepTimes prefill;
    prefill.prompt = 1;
    const ServingTimes times{.steps = &steps, .prefill = &prefill};
    const double most = balance_of(spec, times).most_per_s(1, 1);
    spec.load.rate = 1.2 * most;
    EXPECT_TRUE(load_verdict_of(serve(spec, times), true).overloaded);
    spec.load.rate = 0.9 * most;
    EXPECT_FALSE(load_verdict_of(serve(spec, times), true).overloaded);
}

}  // namespace
}  // namespace podsim::scenarios
