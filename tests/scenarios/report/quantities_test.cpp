// Reported values: names, keys and sources match; each value is read from the right field.
#include "scenarios/src/report/quantities.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>
#include <set>

#include "scenarios/src/report/step_json.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/formulas.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/load_parts.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/scenario/standing.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/report/hand_made.h"

namespace podsim::scenarios {
namespace {

using samples::hand_made;
using samples::kMs;

// Rows of the vocabulary and of the sources match, in order; each has a key and a section, and a
// program's value if the vocabulary says so.
TEST(Quantities, NamesAndSourcesAreComplete) {
    const auto names = reported_quantities();
    const auto sources = quantity_sources();
    ASSERT_EQ(names.size(), sources.size());
    std::set<std::string_view> seen;
    std::set<std::string_view> keys;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const QuantityName& name = names[i];
        EXPECT_EQ(name.name, sources[i].name);
        EXPECT_TRUE(seen.insert(name.name).second) << name.name;
        EXPECT_TRUE(keys.insert(name.key).second) << name.key;
        EXPECT_EQ(&find_quantity(name.name), &name);
        EXPECT_NE(sources[i].of_step, nullptr) << name.name;
        EXPECT_EQ(sources[i].of_program != nullptr, name.of_programs) << name.name;
        EXPECT_NE(name.part, JsonPart::none) << name.name;
        EXPECT_FALSE(name.key.empty()) << name.name;
        EXPECT_FALSE(name.meaning.empty()) << name.name;
    }
}

// A key ends in the unit of its value.
TEST(Quantities, KeysCarryTheirUnits) {
    for (const QuantityName& name : reported_quantities()) {
        const bool rate =
            name.key.ends_with("tokens_per_s") || name.key.ends_with("tokens_per_s_per_chip");
        const bool seconds = name.key.ends_with("_s") && !rate;
        EXPECT_EQ(seconds, name.unit == ValueUnit::time) << name.name;
        EXPECT_EQ(name.key.ends_with("_bytes"), name.unit == ValueUnit::bytes) << name.name;
        EXPECT_EQ(name.key.ends_with("_usd"), name.unit == ValueUnit::money) << name.name;
        EXPECT_EQ(rate, name.unit == ValueUnit::token_rate) << name.name;
    }
}

// Verdicts know every quantity that the loader accepts: each example of the help is read and judged
// in its own unit.
TEST(Quantities, ExpectTakesEveryNumberWithAnExample) {
    for (const QuantityName& name : expected_quantities()) {
        const std::string path = "expect." + std::string(name.name);
        const KeySpec* const key = find_key(path);
        ASSERT_NE(key, nullptr) << path;
        EXPECT_EQ(key->path, path);
        EXPECT_EQ(key->meaning, name.meaning);
        EXPECT_EQ(key->form, std::string("{within: ") + (name.analytic ? "1.5 %" : "10 %") +
                                 ", of: " + std::string(name.example) + "}");
        EXPECT_NE(name.unit, ValueUnit::text);
        EXPECT_NE(name.unit, ValueUnit::truth);
        const YamlNode tree = parse_yaml(
            fmt::format("expect: {{{}: {{of: {}, within: 1 %}}}}\n", name.name, name.example),
            "help");
        sim::InputFaults first;
        const std::vector<Expectation> read = read_expectations(Reader(tree, first)["expect"]);
        ASSERT_EQ(read.size(), 1U) << name.name;
        EXPECT_GT(read.front().of, 0);
    }
    EXPECT_EQ(keys_of("expect").size(), expected_quantities().size());
    EXPECT_EQ(expected_quantities().front().name, "step_time");
}

TEST(Quantities, FormulasFollowInTheVocabulary) {
    std::vector<std::string_view> of_programs;
    for (const Formula& formula : all_formulas()) {
        EXPECT_EQ(&find_quantity(formula.quantity.name), &formula.quantity);
        EXPECT_TRUE(formula.quantity.analytic);
        EXPECT_TRUE(formula.quantity.key.empty());
        if (formula.quantity.of_programs) {
            of_programs.push_back(formula.quantity.name);
        }
    }
    EXPECT_THAT(of_programs, ::testing::ElementsAre("hosts", "cores", "peak_flops", "memory_of_all",
                                                    "arithmetic_intensity", "critical_intensity"));
}

// An unknown quantity was once judged as tokens per second, with its unit taken for a time.
TEST(Quantities, UnknownNamesAreErrorsWithTheNearestName) {
    Scenario scenario;
    scenario.expectations = {{"mfuu", 0.4, 0.1, "", "", ""}};
    const auto message = [](auto&& use) -> std::string {
        try {
            use();
        } catch (const sim::InputError& error) {
            return error.what();
        }
        return "no error";
    };
    const std::string start = "unknown quantity 'mfuu'; did you mean 'mfu'? allowed: step_time, ";
    using ::testing::StartsWith;
    EXPECT_THAT(message([] { return find_quantity("mfuu"); }), StartsWith(start));
    EXPECT_THAT(message([] { return quantity_text("mfuu", 1); }), StartsWith(start));
    EXPECT_THAT(message([&] { return judge(scenario, hand_made()); }), StartsWith(start));
    EXPECT_THAT(message([&] { return judge(scenario, ProgramResult{}); }), StartsWith(start));
}

TEST(Quantities, AreWrittenInTheirUnits) {
    EXPECT_EQ(quantity_text("step_time", 2.2), "2.200 s");
    EXPECT_EQ(quantity_text("mfu", 0.45), "45.00 %");
    EXPECT_EQ(quantity_text("tokens_per_s", 1.9e6), "1.900M tokens/s");
    EXPECT_EQ(quantity_text("peak_memory", 95e9), "95.00 GB");
    EXPECT_EQ(quantity_text("training_run_cost", 2e6), "2.000M USD");
    EXPECT_EQ(quantity_text("training_flops", 9e17), "900.0P");
    EXPECT_EQ(quantity_text("training_flops", 6.3e24), "6.300e+24");
    EXPECT_EQ(quantity_text("events", 12), "12.00");
}

TEST(Quantities, ValuesGoThroughJson) {
    const Json json = {{"whole", 3},  {"part", 0.5},     {"yes", true},
                       {"text", "a"}, {"none", nullptr}, {"map", {{"inside", 7}}}};
    EXPECT_EQ(value_at(json, "whole"), Value(std::int64_t{3}));
    EXPECT_EQ(value_at(json, "part"), Value(0.5));
    EXPECT_EQ(value_at(json, "yes"), Value(true));
    EXPECT_EQ(value_at(json, "text"), Value(std::string("a")));
    EXPECT_EQ(value_at(json, "none"), Value());
    EXPECT_EQ(value_at(json, "map"), Value());
    EXPECT_EQ(value_at(json, "map.inside"), Value(std::int64_t{7}));
    EXPECT_EQ(value_at(json, "map.other"), Value());
    EXPECT_EQ(value_at(json, "whole.inside"), Value());
    EXPECT_EQ(value_at(json, "other"), Value());
    EXPECT_EQ(number_of(Value(true)), 1);
    EXPECT_EQ(number_of(Value(std::int64_t{3})), 3);
    EXPECT_EQ(number_of(Value(0.5)), 0.5);
    EXPECT_EQ(number_of(Value(std::string("7"))), 0);
    EXPECT_EQ(number_of(Value()), 0);
    EXPECT_EQ(json_of(Value()), Json());
    EXPECT_EQ(json_of(Value(std::int64_t{3})).dump(), "3");
    EXPECT_EQ(json_of(Value(true)).dump(), "true");
}

class QuantityValues : public CommandTest {};

/// Every field has a distinct number, so that no two can be confused.
StepResult distinct() {
    StepResult result = hand_made();
    result.step_time = {900 * kMs};
    result.compute = {700 * kMs};
    result.exposed_total = {200 * kMs};
    result.evaluation = {50 * kMs};
    result.block = {5000 * kMs};
    result.mfu = 0.41;
    result.hfu = 0.52;
    result.tokens_per_s = 1e6;
    result.lower.time = sim::Seconds(0.61);
    result.lower.bound = "HBM";
    result.serial = sim::Seconds(1.25);
    result.book = sim::Seconds(0.75);
    result.memory.peak = sim::Bytes(60e9);
    result.memory.capacity = sim::Bytes(95e9);
    result.memory.peak_at = {3 * kMs};
    result.memory.fits = false;
    result.memory.tight = true;
    result.memory.stage = 2;
    result.memory.member = "context rank 1";
    result.prefetch_layers = 0.75;
    result.asked_prefetch = 1.5;
    result.fetch_layers = 0.5;
    result.asked_fetch = 2;
    result.with_asked_prefetch = sim::Time{800 * kMs};
    result.bubble = 0.125;
    result.passes.forward = sim::Seconds(0.01);
    result.passes.input_gradients = sim::Seconds(0.02);
    result.passes.weight_gradients = sim::Seconds(0.03);
    result.reported.stage = 3;
    result.reported_member = "context rank 5";
    result.imbalance = Imbalance{1.5, 1.25, 1.125, sim::Time{600 * kMs}};
    result.chips = 64;
    result.simulated_chips = 4;
    result.events = 1234;
    result.played_events = 234;
    return result;
}

// 1T tokens at 1M tokens a second are 1e6 s. With the evaluation steps, blocks of 5 s in place of
// three steps of 0.9 s, they are 1.852e6 s: 21.43 days, on 64 chips 32922 chip-hours, 65844 USD at
// 2 USD an hour.
TEST_F(QuantityValues, AreReadOffTheirFields) {
    const Scenario scenario = load_scenario(
        write(std::string(kGood) + "training: {microbatches: 1}\n"
                                   "evaluation: {tokens: 64Ki, steps: 5, train_steps: 3}\n"
                                   "report: {tokens: 1T, price: 2 USD/chip-hour}\n"));
    const StepResult result = distinct();
    const auto value = [&](std::string_view name) { return value_of(name, scenario, result); };
    const double run = 1e6 * 5 / (0.9 * 3);
    const std::map<std::string_view, Value> expected{
        {"step_time", 0.9},
        {"evaluation_step_time", 0.05},
        {"block_time", 5.0},
        {"compute", 0.7},
        {"exposed_communication", 0.2},
        {"mfu", 0.41},
        {"hfu", 0.52},
        {"model_tflops_per_s_per_device", 0.41 * 459e12 / 1e12},  // a chip of v5p is a device
        {"flop_rule", std::string("executed")},
        {"tokens_per_s", 1e6},
        {"bound", std::string("HBM")},
        {"book", 0.75},
        {"roofline_lower", 0.61},
        {"roofline_serial", 1.25},
        {"peak_memory", 60e9},
        {"memory_capacity", 95e9},
        {"fits", false},
        {"tight", true},
        {"peak_memory_time", 0.003},
        {"prefetch_layers", 0.75},
        {"asked_prefetch_layers", 1.5},
        {"fetch_layers", 0.5},
        {"asked_fetch_layers", std::int64_t{2}},
        {"asked_prefetch_step_time", 0.8},
        {"pipeline_stages", std::int64_t{1}},
        {"pipeline_schedule", std::string("1f1b")},
        {"microbatches", std::int64_t{1}},
        {"bubble", 0.125},
        {"formula_bubble", 0.0},
        {"forward_time", 0.01},
        {"input_gradients_time", 0.02},
        {"weight_gradients_time", 0.03},
        {"reported_stage", std::int64_t{3}},
        {"memory_stage", std::int64_t{2}},
        {"attention_over_mean", 1.5},
        {"expert_tokens_over_mean", 1.25},
        {"compute_over_mean", 1.125},
        {"reported_member", std::string("context rank 5")},
        {"memory_member", std::string("context rank 1")},
        {"even_step_time", 0.6},
        {"training_tokens", 1e12},
        {"training_run_days", run / 86400},
        {"training_run_chip_hours", run / 3600 * 64},
        {"training_run_cost", run / 3600 * 64 * 2},
        {"time_per_token", Value()},  // inference only
        {"tokens_per_s_per_chip", Value()},
        {"cost_per_million_tokens", Value()},
        {"chips", std::int64_t{64}},
        {"simulated_chips", std::int64_t{4}},
        {"events", std::int64_t{1234}},
        {"played_events", std::int64_t{234}},
    };
    EXPECT_EQ(expected.size(), reported_quantities().size());
    for (const auto& [name, wanted] : expected) {
        EXPECT_EQ(value(name), wanted) << name;
    }
    EXPECT_EQ(value("parameters"), Value(8030261248.0));

    // The JSON has each under its key; a single stage has nothing on a pipeline.
    const Json json = step_json(scenario, result, {});
    for (const QuantityName& name : reported_quantities()) {
        const Value in_json = value_at(json, name.key);
        EXPECT_EQ(in_json, name.part == JsonPart::pipeline ? Value() : expected.at(name.name))
            << name.name;
    }
}

// Decode of 32 sequences: the step is the time between two tokens. 1M tokens a second on 64 chips
// at 2 USD an hour.
TEST_F(QuantityValues, OfInferenceAreThoseOfATokenToo) {
    const std::string head =
        "hardware: {chip: v5e, slice: 4x2}\nmodel: llama-3-8b\nreport: {price: 2 USD/chip-hour}\n";
    const auto value = [&](const std::string& step, std::string_view name) {
        return value_of(name, load_scenario(write(head + step)), distinct());
    };
    const std::string decode = "inference: {step: decode, batch: 32, context: 2048}\n";
    EXPECT_EQ(value(decode, "time_per_token"), Value(0.9));
    EXPECT_EQ(value(decode, "tokens_per_s_per_chip"), Value(1e6 / 64));
    EXPECT_DOUBLE_EQ(number_of(value(decode, "cost_per_million_tokens")), 2.0 / 3600 * 64);
    EXPECT_EQ(value("inference: {step: prefill, prompt: 2048}\n", "time_per_token"), Value());
}

// 9 tokens in 0.9 s, the first after 0.1 s: eight intervals of 0.1 s. A single token has none.
TEST_F(QuantityValues, TheTimeOfAGeneratedTokenIsWithoutThePrefill) {
    StepResult result = distinct();
    result.prefill = {100 * kMs};
    const auto value = [&](int generate) {
        return value_of("time_per_token",
                        load_scenario(write(fmt::format(
                            "hardware: {{chip: v5e, slice: 4x2}}\nmodel: llama-3-8b\n"
                            "inference: {{step: generate, prompt: 2048, generate: {}}}\n",
                            generate))),
                        result);
    };
    EXPECT_EQ(value(9), Value(0.1));
    EXPECT_EQ(value(1), Value());
}

TEST_F(QuantityValues, OfWhatAResultHasNotAreNone) {
    const Scenario scenario = load_scenario(write(kGood));
    StepResult result = hand_made();
    const Json json = step_json(scenario, result, {});
    for (const char* const name :
         {"evaluation_step_time", "block_time", "attention_over_mean", "expert_tokens_over_mean",
          "compute_over_mean", "reported_member", "memory_member", "even_step_time",
          "training_tokens", "training_run_days", "training_run_chip_hours", "training_run_cost"}) {
        EXPECT_EQ(value_of(name, scenario, result), Value()) << name;
    }
    for (const char* const key : {"evaluation", "imbalance", "training_run", "pipeline"}) {
        EXPECT_FALSE(json.contains(key)) << key;
    }
    EXPECT_EQ(value_of("prefetch_layers", scenario, result), Value(std::int64_t{1}));
    // A budget without a price has no cost; unequal work without a remedy has no even step.
    result.imbalance = Imbalance{1.5, 1, 1.125, std::nullopt};
    const Scenario budget = load_scenario(write(std::string(kGood) + "report: {tokens: 1T}\n"));
    EXPECT_EQ(value_of("training_run_cost", budget, result), Value());
    EXPECT_EQ(value_of("even_step_time", budget, result), Value());
    EXPECT_EQ(value_of("attention_over_mean", budget, result), Value(1.5));
}

// An error beyond 5 % is no agreement, nor is one beyond four fifths of a tolerance above 5 %: 4.8
// of 6 %. 1.4 within 1.5 % agrees.
TEST(Standing, WhatHoldsMayDiffer) {
    EXPECT_EQ(standing(0.014, 0.015), "holds");
    EXPECT_EQ(standing(-0.049, 0.05), "holds");
    EXPECT_EQ(standing(0.048, 0.07), "holds");
    EXPECT_EQ(standing(-0.049, 0.06), "differs");
    EXPECT_EQ(standing(0.051, 0.2), "differs");
    EXPECT_EQ(standing(0.266, 0.27), "differs");
    EXPECT_EQ(standing(0.28, 0.27), "FAILS");
}

TEST_F(QuantityValues, VerdictsAreInJsonAndText) {
    Scenario scenario = load_scenario(write(kGood));
    scenario.expectations = {{"step_time", 0.5, 0.5, "a", "", ""},
                             {"roofline_lower", 0.6, 0.25, "b", "", ""}};
    StepResult result = hand_made();
    result.step_time = {750 * kMs};
    result.lower.time = sim::Seconds(0.3);
    const std::vector<Verdict> verdicts = judge(scenario, result);
    EXPECT_EQ(verdicts[0].value, 0.75);
    EXPECT_EQ(verdicts[0].error, 0.5);
    EXPECT_TRUE(verdicts[0].holds);  // within includes its edge
    EXPECT_FALSE(verdicts[0].analytic);
    EXPECT_EQ(verdicts[1].error, -0.5);
    EXPECT_FALSE(verdicts[1].holds);
    EXPECT_TRUE(verdicts[1].analytic);
    const Json json = step_json(scenario, result, verdicts)["expectations"];
    EXPECT_EQ(json[0].dump(),
              R"({"quantity":"step_time","analytic":null,"simulated":0.75,"reference":0.5,)"
              R"("error":0.5,"within":0.5,"holds":true,"differs":true,"source":"a"})");
    EXPECT_EQ(json[1]["analytic"], 0.3);
    EXPECT_TRUE(json[1]["simulated"].is_null());
    EXPECT_EQ(verdicts_report(verdicts),
              "Expected                      value  reference                   error  source\n"
              "  step_time       differs  750.0 ms   500.0 ms  +50.00 % (within 50 %)  a\n"
              "  roofline_lower  FAILS    300.0 ms   600.0 ms  -50.00 % (within 25 %)  b\n");
    EXPECT_EQ(verdicts_report({}), "");
}

}  // namespace
}  // namespace podsim::scenarios
