// Interpolated step times against their exact source.
#include "scenarios/src/serve/step_times.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "scenarios/src/serve/serving_loop.h"
#include "scenarios/src/serve/serving_run.h"
#include "tests/scenarios/serve/step_times_by_hand.h"

namespace podsim::scenarios {
namespace {

using by_hand::LinearStepTimes;
using by_hand::us;

/// 1000 + n + x^2 / 100 nanoseconds for n sequences with caches of mean x.
struct QuadraticStepTimes final : StepTimes {
    int asked = 0;
    sim::Time time_of(const StepShape& shape) override {
        ++asked;
        const std::int64_t mean = shape.decoding == 0 ? 0 : shape.decode_cached / shape.decoding;
        return {(1000 + shape.decoding) * 1000 + mean * mean * 10};
    }
};

TEST(MemoisedStepTimes, ask_once) {
    QuadraticStepTimes exact;
    MemoisedStepTimes times(exact);
    const StepShape shape{.decoding = 3, .decode_cached = 30};
    EXPECT_EQ(times.time_of(shape), times.time_of(shape));
    EXPECT_EQ(exact.asked, 1);
    StepShape other = shape;
    other.prompts = {{1, 0, true}};
    (void)times.time_of(other);
    EXPECT_EQ(times.asked(), 2U);
}

/// Points of the grid are requested as they are: 5 sequences, contexts of 40 = 32 + 8.
TEST(InterpolatedStepTimes, are_exact_on_the_grid) {
    QuadraticStepTimes exact;
    InterpolatedStepTimes times(exact, 4, {});
    EXPECT_EQ(times.time_of({.decoding = 5, .decode_cached = 200}).ps, 1005000 + 16000);
    EXPECT_EQ(exact.asked, 1);
}

/// a + b n + c n x is exact between the points, for decodes and for prompts.
TEST(InterpolatedStepTimes, meet_what_is_linear) {
    LinearStepTimes exact;
    exact.step = 100;
    exact.sequence = 7;
    exact.cached = 3;
    exact.prompt = 5;
    exact.prompt_cached = 2;
    InterpolatedStepTimes times(exact, 2, {});
    const StepShape shape{
        .decoding = 37, .decode_cached = 37 * 1234 + 5, .prompts = {{777, 531, true}}};
    const double wanted = static_cast<double>(exact.time_of(shape).ps);
    EXPECT_NEAR(static_cast<double>(times.time_of(shape).ps), wanted, 1e-12 * wanted + 2);
}

/// Pairs of a query and a key, in whole microseconds.
struct PairTimes final : StepTimes {
    sim::Time time_of(const StepShape& shape) override {
        std::int64_t pairs = 0;
        for (const PromptPart& part : shape.prompts) {
            pairs += part.tokens * (2 * part.cached + part.tokens);
        }
        return us(pairs);
    }
};

/// Prompts of 96 and 32 behind 32 tokens: 96^2 + 32 (2 x 32 + 32) = 12288 (half pairs), as two of
/// 64 behind 16: 2 x 64 (32 + 64).
TEST(InterpolatedStepTimes, keep_the_pairs_of_unequal_prompts) {
    PairTimes exact;
    InterpolatedStepTimes times(exact, 64, {});
    const StepShape shape{.prompts = {{32, 32, true}, {96, 0, true}}};
    EXPECT_EQ(exact.time_of(shape), us(12288));
    EXPECT_EQ(times.time_of(shape), us(12288));
    EXPECT_EQ(times.measure_error().largest, 0);
}

/// Windows of 10 tokens: earlier tokens are not read.
struct WindowTimes final : StepTimes {
    sim::Time time_of(const StepShape& shape) override {
        const auto seen = [](std::int64_t count, std::int64_t cached) {
            return count == 0 ? 0 : count * std::min<std::int64_t>(10, cached / count);
        };
        return us(seen(shape.full, shape.full_cached) +
                  seen(shape.decoding - shape.full, shape.decode_cached - shape.full_cached));
    }
};

/// Three of 4 tokens and one of 100 see 3 x 4 + 10, not 4 x 10.
TEST(InterpolatedStepTimes, tell_full_windows_from_others) {
    WindowTimes exact;
    InterpolatedStepTimes times(exact, 64, {});
    const StepShape shape{.decoding = 4, .decode_cached = 112, .full = 1, .full_cached = 100};
    EXPECT_EQ(exact.time_of(shape), us(22));
    EXPECT_EQ(times.time_of(shape), us(22));
}

/// x = 44 lies between 40 and 48: the chord of x^2 is 1/4 h^2 = 16 above it in the middle,
/// h^2 / 8 x 2 with h = 8, at 10 ps.
TEST(InterpolatedStepTimes, miss_a_parabola_by_an_eighth_of_its_second_derivative) {
    QuadraticStepTimes exact;
    InterpolatedStepTimes times(exact, 4, {});
    const StepShape between{.decoding = 1, .decode_cached = 44};
    EXPECT_EQ(times.time_of(between).ps - exact.time_of(between).ps, 160);
    const GridError error = times.measure_error();
    EXPECT_EQ(error.buckets, 2U);
    EXPECT_EQ(error.samples, 1U);
    EXPECT_DOUBLE_EQ(error.largest, 160.0 / (1001000 + 19360));
    EXPECT_EQ(error.worst, between);
}

/// For tokens the first point after 0 is 128 / 4: a context of 8 is a quarter of that distance, and
/// 16 new tokens are 15 of 31 from 1.
TEST(InterpolatedStepTimes, begin_where_tokens_begin_to_count) {
    QuadraticStepTimes exact;
    InterpolatedStepTimes times(exact, 4, {});
    EXPECT_EQ(times.time_of({.decoding = 1, .decode_cached = 8}).ps, 1001000 + 10240 / 4);
    EXPECT_EQ(times.buckets(), 2U);
    LinearStepTimes linear;
    linear.prompt = 31;
    InterpolatedStepTimes prompts(linear, 4, {});
    EXPECT_EQ(prompts.time_of({.prompts = {{16, 0, false}}}), us(31 * 16));
    ASSERT_EQ(linear.asked.size(), 2U);
    EXPECT_EQ(linear.asked[0].prompt_tokens(), 1);
    EXPECT_EQ(linear.asked[1].prompt_tokens(), 32);
}

/// A step of 5 sequences compiled for 8: the corners also have 8 rows.
TEST(InterpolatedStepTimes, keep_the_rows_of_a_compiled_step) {
    LinearStepTimes exact;
    exact.sequence = 1;
    InterpolatedStepTimes times(exact, 1, {});
    EXPECT_EQ(times.time_of({.decoding = 5, .padding = 3}), us(8));
    ASSERT_EQ(exact.asked.size(), 2U);
    EXPECT_EQ(exact.asked[0], (StepShape{.decoding = 4, .padding = 4}));
    EXPECT_EQ(exact.asked[1], (StepShape{.decoding = 8}));
}

/// The grid ends at the largest possible value: 96 and 100, not 112.
TEST(InterpolatedStepTimes, ask_for_nothing_beyond_the_limits) {
    LinearStepTimes exact;
    exact.sequence = 1;
    InterpolatedStepTimes times(exact, 4, {.sequences = 100, .context = 1000});
    EXPECT_EQ(times.time_of({.decoding = 98, .decode_cached = 98 * 990}), us(98));
    for (const StepShape& shape : exact.asked) {
        EXPECT_TRUE(shape.decoding == 96 || shape.decoding == 100) << shape.decoding;
        EXPECT_LE(shape.decode_cached / shape.decoding, 1000);
    }
    EXPECT_EQ(times.time_of({.decoding = 100, .decode_cached = 0}), us(100));
}

/// Steps of both kinds have half of the points for decodes (37 between 32 and 48, not 40), a
/// quarter for prompts (777 between 512 and 1024).
TEST(InterpolatedStepTimes, have_a_coarser_grid_where_steps_mix) {
    LinearStepTimes exact;
    InterpolatedStepTimes times(exact, 4, {});
    (void)times.time_of({.decoding = 37, .prompts = {{777, 0, true}}});
    EXPECT_EQ(times.buckets(), 4U);
    for (const StepShape& shape : exact.asked) {
        EXPECT_TRUE(shape.decoding == 32 || shape.decoding == 48) << shape.decoding;
        EXPECT_TRUE(shape.prompt_tokens() == 512 || shape.prompt_tokens() == 1024);
    }
}

/// A serving run with the grid is close to that without; on the grid (per octave 64, short
/// contexts) it is the same.
TEST(InterpolatedStepTimes, serve_as_the_exact_source_does) {
    LinearStepTimes exact;
    exact.step = 100;
    exact.cached = 1;
    exact.prompt = 2;
    ServingSpec spec;
    spec.load.rate = 50;
    spec.load.requests = 200;
    spec.load.prompt = {.kind = LengthKind::uniform, .least = 1, .most = 100};
    spec.load.output = spec.load.prompt;
    spec.batching.slots = 8;
    InterpolatedStepTimes grid(exact, 4, {.sequences = 8, .context = 200});
    const double wanted = by_hand::serve(spec, exact).end.seconds();
    EXPECT_NEAR(by_hand::serve(spec, grid).end.seconds(), wanted, 1e-9 * wanted);
    EXPECT_LT(grid.measure_error().largest, 1e-9);
}

/// 7 bytes at 2 bytes a second and a second of latency. For ten tokens, with half of the bytes in
/// layers with a window of two, (2 + 8 / 2) x 3.5.
TEST(RateTransferTimes, are_bytes_over_rate_and_latency) {
    DisaggregationSpec apart{
        .a_token = sim::Bytes(3.5), .rate = sim::BytesPerSecond(2), .latency = us(1000000)};
    EXPECT_EQ(RateTransferTimes(apart).time_of(2), us(4500000));
    apart.kept = {.window = 2, .beyond = 0.5};
    EXPECT_EQ(RateTransferTimes(apart).time_of(10), us(1000000 + 10500000));
}

}  // namespace
}  // namespace podsim::scenarios
