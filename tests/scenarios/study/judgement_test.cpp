// Standards for predictions, on sets made by hand: rules of one constant, order of pairs,
// error bands.
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "scenarios/src/study/band.h"
#include "scenarios/src/study/calibrate.h"
#include "scenarios/src/study/pair_order.h"
#include "scenarios/src/study/priors.h"

namespace podsim::scenarios {
namespace {

/// Returns a step on a chip with 100 FLOP/s in bf16 and 200 quantised.
Measurement step(const std::string& chip, const std::string& family, double work, double time,
                 bool quantised = false) {
    Measurement one;
    one.chip = chip;
    one.family = family;
    one.measured_s = time;
    one.what = Measured::step;
    one.kind = {chip, false, quantised};
    one.work = work;
    one.bf16_peak = 100;
    one.matmul_peak = quantised ? 200 : 100;
    return one;
}

// MFU of the two steps of v5e: 100 / (100 x 2) = 0.5 and 200 / (100 x 16) = 0.125; their geometric
// mean is 0.25.
TEST(OneConstant, IsTheGeometricMeanOfTheChip) {
    const std::vector<Measurement> known{step("v5e", "a", 100, 2), step("v5e", "b", 200, 16),
                                         step("v4p", "c", 100, 1)};
    EXPECT_NEAR(*rule_time(RuleKey::chip, known, step("v5e", "d", 50, 0)), 2, 1e-12);
    EXPECT_NEAR(*rule_time(RuleKey::chip, known, step("v4p", "d", 50, 0)), 0.5, 1e-12);
    // No step is of v6e: all three, (0.5 x 0.125 x 1)^(1/3) = 0.3969; 50 / 100 / 0.3969.
    EXPECT_NEAR(*rule_time(RuleKey::chip, known, step("v6e", "d", 50, 0)), 0.5 / std::cbrt(0.0625),
                1e-12);
    EXPECT_FALSE(rule_time(RuleKey::chip, {}, step("v6e", "d", 50, 0)).has_value());
}

// Quantised 100 / (200 x 1) = 0.5 of its own peak, 1 by the bf16 peak; bf16 0.25.
TEST(OneConstant, OfAPrecisionGoesByItsOwnPeak) {
    const std::vector<Measurement> known{step("v5p", "a", 100, 4), step("v5p", "b", 100, 1, true),
                                         step("v6e", "c", 100, 2)};
    const auto time = [&](RuleKey key, const Measurement& of) {
        return *rule_time(key, known, of);
    };
    EXPECT_NEAR(time(RuleKey::chip_and_precision, step("v5p", "d", 100, 0, true)), 1, 1e-12);
    EXPECT_NEAR(time(RuleKey::chip_and_precision, step("v5p", "d", 100, 0)), 4, 1e-12);
    EXPECT_NEAR(time(RuleKey::chip, step("v5p", "d", 100, 0, true)), 2, 1e-12);  // sqrt(1 x 0.25)
    // Quantised on v6e: the chip's other steps, 0.5 of the peak of quantised matmuls.
    EXPECT_NEAR(time(RuleKey::chip_and_precision, step("v6e", "d", 100, 0, true)), 1, 1e-12);
    // On a chip without any: the quantised ones of other chips, 0.5.
    EXPECT_NEAR(time(RuleKey::chip_and_precision, step("v4p", "d", 100, 0, true)), 1, 1e-12);
}

// Four bf16 steps of v5e with 1, 2, 2.01 and 4 s for the same 6ND: six pairs, of which 2 and 2.01
// are too close. A quantised step and one of another chip have no partner.
TEST(PairOrderOfSteps, CountsPairsOfOneChipAndPrecision) {
    std::vector<Measurement> steps{step("v5e", "a", 100, 1),       step("v5e", "a", 100, 2),
                                   step("v5e", "b", 100, 2.01),    step("v5e", "b", 200, 8),
                                   step("v5e", "b", 100, 3, true), step("v4p", "c", 100, 3)};
    PairOrder order = pair_order(steps, {1, 2, 3, 8, 1, 1});
    EXPECT_EQ(order.pairs, 5);
    EXPECT_EQ(order.right, 5);
    // The fourth takes 3 for each 100: after the first, equal to the third, before the second.
    order = pair_order(steps, {1, 4, 3, 6, 1, 1});
    EXPECT_EQ(order.pairs, 5);
    EXPECT_EQ(order.right, 3.5);
    EXPECT_EQ(order.share(), 0.7);
    // A step without a prediction is in no pair.
    EXPECT_EQ(pair_order(steps, {0, 2, 3, 8, 1, 1}).pairs, 2);
    steps[3].what = Measured::microbenchmark;
    EXPECT_EQ(pair_order(steps, {1, 2, 3, 8, 1, 1}).pairs, 2);
    EXPECT_EQ(pair_order({}, {}).share(), 0);
}

// Five steps of two families resemble each other: the fourth largest of 1, 2, 3, 4 and 10 % is the
// band of 80 %. Two of a family of its own resemble none: 30 %.
TEST(ErrorBandOfSteps, HoldsFourOfFiveErrors) {
    const StepKind dense{"v5e", false, false};
    const StepKind experts{"v6e", true, false};
    std::vector<HeldOutError> errors{{dense, 4096, "a", 0.01},  {dense, 4096, "a", -0.04},
                                     {dense, 4096, "b", 0.1},   {dense, 4096, "b", -0.02},
                                     {dense, 5120, "b", 0.03},  {experts, 2048, "c", -0.3},
                                     {experts, 4096, "c", 0.05}};
    EXPECT_TRUE(is_like_others(errors[0], errors));
    EXPECT_FALSE(is_like_others(errors[5], errors));
    const ErrorBand band = error_band(errors);
    EXPECT_EQ(band.like, 0.04);
    EXPECT_EQ(band.unlike, 0.3);
    EXPECT_EQ(band.measured, (std::vector{dense, experts}));
    EXPECT_EQ(band.dense_from, 4096);
    EXPECT_EQ(band.experts_from, 2048);
    EXPECT_DOUBLE_EQ(coverage(band, errors), 6.0 / 7);
    // A step of a model narrower than any of other families resembles none, though its kind
    // is measured.
    errors.push_back({dense, 1024, "b", 0.2});
    EXPECT_FALSE(is_like_others(errors.back(), errors));
    EXPECT_EQ(error_band(errors).dense_from, 1024);
    EXPECT_EQ(error_band(errors).like, 0.04);
    errors.pop_back();
    // The band of the others is at least half as wide again.
    errors[5].error = 0.01;
    EXPECT_DOUBLE_EQ(error_band(errors).unlike, 0.06);
    EXPECT_EQ(error_band({}).like, 0);
    EXPECT_EQ(coverage(band, {}), 0);
}

TEST(ErrorBandOfSteps, IsWiderForAKindOrAWidthThatNobodyMeasured) {
    const ErrorBand band{0.06, 0.12, {{"v5e", false, false}, {"v5e", true, true}}, 4096, 2048};
    EXPECT_EQ(band_of(band, {"v5e", false, false}, 4096)->share, 0.06);
    EXPECT_TRUE(band_of(band, {"v5e", false, false}, 4096)->like);
    EXPECT_EQ(band_of(band, {"v5e", false, false}, 4095)->share, 0.12);
    EXPECT_FALSE(band_of(band, {"v5e", false, false}, 4095)->like);
    EXPECT_TRUE(band_of(band, {"v5e", true, true}, 2048)->like);
    EXPECT_FALSE(band_of(band, {"v5e", true, true}, 2047)->like);
    for (const StepKind& other : {StepKind{"v5p", false, false}, StepKind{"v5e", true, false},
                                  StepKind{"v5e", false, true}}) {
        EXPECT_EQ(band_of(band, other, 8192)->share, 0.12) << to_string(other);
        EXPECT_FALSE(band_of(band, other, 8192)->like);
        EXPECT_EQ(parse_step_kind(to_string(other)), other);
    }
    EXPECT_FALSE(band_of({}, {"v5e", false, false}, 8192).has_value());
    EXPECT_FALSE(parse_step_kind("v5e dense").has_value());
    EXPECT_FALSE(parse_step_kind("v5e dense int8").has_value());
}

TEST(Priors, LieInTheRangeOfTheirFactor) {
    for (const topology::EfficiencyFactor& factor : topology::efficiency_factors()) {
        const Prior& prior = prior_of(factor.name);
        EXPECT_EQ(from_deviations(factor, 0), prior.value) << factor.name;
        EXPECT_NEAR(to_deviations(factor, from_deviations(factor, -0.5)), -0.5, 1e-12);
        EXPECT_EQ(from_deviations(factor, 1e3), factor.most);
        EXPECT_EQ(from_deviations(factor, -1e6), factor.least);
        EXPECT_FALSE(prior.source.empty());
    }
}

}  // namespace
}  // namespace podsim::scenarios
