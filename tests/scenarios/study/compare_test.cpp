// Rows of `podsim compare`, written by hand: reasons, errors by folder, ratios.
#include "scenarios/src/study/compare.h"

#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/study/compare_table.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/report/hand_made.h"

namespace podsim::scenarios {
namespace {

using samples::kMs;
using ::testing::ElementsAre;

Verdict verdict_of(const std::string& quantity, double value, double reference, double within) {
    Verdict verdict;
    verdict.expectation = {quantity, reference, within, "rounded in the text", "", ""};
    verdict.value = value;
    verdict.error = value / reference - 1;
    verdict.holds = std::abs(verdict.error) <= within;
    return verdict;
}

Comparison row_of(const std::string& family, std::vector<Verdict> verdicts) {
    Comparison row;
    row.family = family;
    row.verdicts = std::move(verdicts);
    return row;
}

// Terms of 6 and 3 of 10 ms are reasons. A negative term is no reason, and a negative total
// has none.
TEST(Compare, ReasonsAreTheTwoLargestTerms) {
    Comparison row;
    row.gap = {{"idle", {kMs}}, {"padding", {6 * kMs}}, {"latency", {3 * kMs}}};
    EXPECT_EQ(largest_terms(row), "padding 60 %, latency 30 %");
    row.gap = {{"latency", {-kMs}}, {"padding", {5 * kMs}}};
    EXPECT_EQ(largest_terms(row), "padding 125 %");
    row.gap = {{"latency", {-3 * kMs}}, {"padding", {kMs}}};
    EXPECT_EQ(largest_terms(row), "");
    row.gap = {};
    EXPECT_EQ(largest_terms(row), "");
}

TEST(Compare, TermsFromTheBookAreSharesOfItsTime) {
    Comparison row;
    row.book = 0.008;
    EXPECT_EQ(terms_from_book(row), "");
    row.gap_to_book = {{"(n-1)/n", {-2 * kMs}}, {"idle", {1000}}, {"latency", {kMs}}};
    EXPECT_EQ(terms_from_book(row), "from book: (n-1)/n -25.0 %, latency +12.5 %");
    // 0.05 % is printed, less is not.
    row.gap_to_book = {{"idle", {4 * kMs / 1000}}};
    EXPECT_EQ(terms_from_book(row), "from book: idle +0.1 %");
    row.gap_to_book = {{"idle", {3 * kMs / 1000}}};
    EXPECT_EQ(terms_from_book(row), "");
}

TEST(Compare, ErrorsAreSummedUpByFolder) {
    const std::vector<Comparison> rows{
        row_of("b", {verdict_of("step_time", 1.5, 1, 0.1)}), row_of("none", {}),
        row_of("a", {verdict_of("step_time", 0.75, 1, 0.1), verdict_of("mfu", 0.5, 0.5, 0.1)}),
        row_of("b", {verdict_of("step_time", 0.75, 1, 0.1)})};
    EXPECT_THAT(families_of(rows), ElementsAre("b", "a"));
    EXPECT_EQ(references_of(rows, "a"), 2U);
    EXPECT_EQ(references_of(rows, "b"), 2U);
    EXPECT_EQ(references_of(rows, "none"), 0U);
    EXPECT_EQ(references_of(rows, ""), 4U);
    EXPECT_EQ(errors_of(rows, "b").mean_absolute, 0.375);
    EXPECT_EQ(errors_of(rows, "b").bias, 0.125);
    EXPECT_EQ(errors_of(rows, "b").worst, 0.5);
    EXPECT_EQ(errors_of(rows, "a").bias, -0.125);
    EXPECT_EQ(errors_of(rows, "").mean_absolute, 0.25);
}

class CompareRows : public CommandTest {
protected:
    [[nodiscard]] Comparison hand_made_row() const {
        Comparison row;
        row.scenario = load_scenario(write("name: one\n" + std::string(kGood)));
        row.family = "f";
        row.result = samples::hand_made();
        row.simulated = 0.75;
        row.book = 0.5;
        row.lower = 0.25;
        row.serial = 1.5;
        row.gap = {{"padding", {500 * kMs}}};
        row.verdicts = {verdict_of("step_time", 0.75, 0.6, 0.1), verdict_of("book", 0.5, 0.5, 0.1)};
        row.verdicts[1].analytic = true;
        return row;
    }
};

TEST_F(CompareRows, AreALineEachWithReferencesAndErrors) {
    const std::vector<Comparison> rows{hand_made_row()};
    EXPECT_EQ(
        compare_report(rows),
        "scenario  simulated      book  sim/book  roofline_lower  sim/lower  roofline_serial  "
        "sim/serial\n"
        "one        750.0 ms  500.0 ms     1.500        250.0 ms      3.000          1.500 s       "
        "0.500\n"
        "\n"
        "References             reference  analytic  simulated    error                     "
        "reason: "
        "parts above roofline_lower\n"
        "  one       step_time   600.0 ms  250.0 ms   750.0 ms  +25.0 %  FAILS within 10 %  "
        "padding "
        "100 %\n"
        "  one       book        500.0 ms  500.0 ms              +0.0 %  holds within 10 %  "
        "rounded "
        "in the text\n"
        "\n"
        "Errors by folder             references  differ  mean absolute     bias    worst\n"
        "  f               simulated           1       0         25.0 %  +25.0 %  +25.0 %\n"
        "  f               formulas            1       0          0.0 %   +0.0 %   +0.0 %\n"
        "  all             simulated           1       0         25.0 %  +25.0 %  +25.0 %\n"
        "  all             formulas            1       0          0.0 %   +0.0 %   +0.0 %\n");
    Comparison bare = hand_made_row();
    bare.verdicts.clear();
    bare.book.reset();
    EXPECT_EQ(compare_report(std::vector<Comparison>{bare}),
              "scenario  simulated  book  sim/book  roofline_lower  sim/lower  roofline_serial  "
              "sim/serial\n"
              "one        750.0 ms  none                  250.0 ms      3.000          1.500 s  "
              "     0.500\n");
}

// Beside steps a reader once took a serving run's time for that of a step.
TEST_F(CompareRows, ATimeOfServingSaysWhatItIsOf) {
    Comparison step = hand_made_row();
    step.verdicts.clear();
    Comparison serving = step;
    serving.scenario.name = "server";
    serving.result = ServingRun{};
    std::get<ServingRun>(serving.result).summary.gap.median = 0.005;
    serving.simulated = 0.005;
    serving.book.reset();
    serving.lower.reset();
    serving.serial.reset();
    Comparison prefill = serving;
    std::get<ServingRun>(prefill.result).summary.gap.median = 0;
    EXPECT_EQ(compare_report(std::vector{step, serving, prefill}),
              "scenario  simulated                      book  sim/book  roofline_lower  sim/lower  "
              "roofline_serial  sim/serial\n"
              "one        750.0 ms                  500.0 ms     1.500        250.0 ms      3.000  "
              "        1.500 s       0.500\n"
              "server     5.000 ms  between tokens      none                      none             "
              "           none\n"
              "server     5.000 ms  to first token      none                      none             "
              "           none\n");
}

// A row that differs gives the scenario's reason before its terms, and a mean of simulated values
// has no formulas in it.
TEST_F(CompareRows, WhatDiffersHasItsReason) {
    Comparison row = hand_made_row();
    row.verdicts = {verdict_of("step_time", 0.75, 0.6, 0.3), verdict_of("book", 0.5, 0.4, 0.3)};
    row.verdicts[1].analytic = true;
    const std::string text = compare_report(std::vector{row});
    EXPECT_THAT(text, ::testing::HasSubstr("+25.0 %  differs within 30 %  rounded in the text; "
                                           "padding 100 %\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("+25.0 %  differs within 30 %  rounded in the text\n"));
    EXPECT_THAT(text, ::testing::HasSubstr("  f               formulas            1       1  "));
    const std::vector<Comparison> rows{row};
    EXPECT_EQ(differing_of(rows, "", ReferenceKind::simulated), 1U);
    EXPECT_EQ(references_of(rows, "f", ReferenceKind::formula), 1U);
}

TEST_F(CompareRows, JsonHoldsRatiosAndErrors) {
    Comparison row = hand_made_row();
    row.wall = {.simulated_s = 0.125};
    const Json json = compare_json(std::vector<Comparison>{row});
    const Json& one = json["scenarios"][0];
    EXPECT_EQ(one["ratio"].dump(), R"({"book":1.5,"roofline_lower":3.0,"roofline_serial":0.5})");
    EXPECT_FALSE(one["holds"].get<bool>());
    EXPECT_FALSE(one.contains("schema"));
    EXPECT_EQ(one["wall_time_s"], 0.125);
    EXPECT_EQ(one["played_events"], 234);
    EXPECT_EQ(json["errors"]["f"]["references"], 2);
    EXPECT_EQ(json["errors"]["f"]["simulated"].dump(),
              R"({"references":1,"differ":0,"mean_absolute":0.25,"bias":0.25,"worst":0.25})");
    EXPECT_EQ(json["errors"]["all"]["formulas"].dump(),
              R"({"references":1,"differ":0,"mean_absolute":0.0,"bias":0.0,"worst":0.0})");
    EXPECT_EQ(json["errors"]["all"]["mean_absolute"],
              errors_of(std::vector{row}, "").mean_absolute);
    EXPECT_EQ(json["errors"]["all"]["bias"], 0.125);
    EXPECT_EQ(json["errors"]["all"]["worst"], 0.25);
    row.book.reset();
    EXPECT_TRUE(compare_json(std::vector{row})["scenarios"][0]["ratio"]["book"].is_null());
}

TEST_F(CompareRows, TakeTheValuesOfTheirResult) {
    const Scenario scenario =
        load_scenario(write(std::string(kGood) + "expect: {step_time: {of: 1 s, within: 9 %}}\n"));
    const Comparison row = compare(scenario);
    const StepResult result = simulate_step(scenario, Fold::automatic);
    EXPECT_EQ(row.simulated, result.step_time.seconds());
    EXPECT_EQ(row.book, result.book.value());
    EXPECT_EQ(row.lower, result.lower.time.value());
    EXPECT_EQ(row.serial, result.serial.value());
    EXPECT_EQ(row.gap.size(), result.gap.size());
    EXPECT_EQ(row.verdicts.size(), 1U);
    EXPECT_EQ(row.family, std::filesystem::path(scenario.file).parent_path().filename().string());
}

}  // namespace
}  // namespace podsim::scenarios
