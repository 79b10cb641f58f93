// Reports of a step written by hand: text, JSON, verdicts.
#include "scenarios/src/report/step_report.h"

#include <gmock/gmock.h>

#include "scenarios/src/advise/advice.h"
#include "scenarios/src/advise/memory_report.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/report/step_json.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/report/hand_made.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::hand_made;
using samples::kMs;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using Report = CommandTest;

TEST_F(Report, SaysWhatAUserAsks) {
    const Scenario scenario = load_scenario(
        write(std::string(kGood) + "name: small\nreport: {tokens: 1T, price: 2 USD/chip-hour}\n"));
    const std::string text = step_report(scenario, hand_made(), {}, {.simulated_s = 0.0123});
    EXPECT_THAT(text, HasSubstr("small\n  model  llama-3-8b, 8.030G parameters\n"
                                "  slice  v5p 4x4x4, 64 chips, x y z wrapped\n"
                                "  mesh   fsdp x y z (64)\n"
                                "  batch  262144 tokens, 64 sequences of 4096\n"));
    EXPECT_THAT(text,
                HasSubstr("Step time 301.0 ms, 80 % of published steps like it lay within ±14 %\n"
                          "  MFU 45.00 %, HFU 60.00 %, 872.0k tokens/s, 13.62k a chip\n"
                          "  206.6 TFLOP/s/device by the rule executed: 6 x matmul parameters + "
                          "attention as masked\n"
                          "  compute 300.3 ms, 100 % of the step; it waits 666.7 us, 50 % of "
                          "that for ReduceScatter over fsdp (gradients)\n"
                          "  bound by compute: no schedule of these operations takes less "
                          "than 300.0 ms\n"
                          "  1.333 ms above it, most of all for latency: 75 % of the gap, "
                          "1.000 ms\n"
                          "  then padding: 25 % of the gap, 333.3 us\n"
                          "  busy: ici_x 40 %\n"
                          "  fits: 40.00 GB of 96.00 GB at the peak, 41.7 %\n"));
    EXPECT_THAT(text, HasSubstr("Training on 1.000T tokens: 13.3 days, 20.39k chip-hours, "
                                "40.77k USD at 2.00 USD/chip-hour\n"));
    EXPECT_THAT(text, HasSubstr("Assumed: profile measured@11, book ICI rates"));
    EXPECT_THAT(text,
                EndsWith("\nsimulated 1 of 64 chips (folded), 1234 events of which 234 played, "
                         "0.012 s wall time\n"));
    EXPECT_EQ(effort_line(64, 64, 1234, {.simulated_s = 0.0123}),
              "simulated 64 of 64 chips, 1234 events, 0.012 s wall time\n");
    EXPECT_THAT(text, Not(HasSubstr("recompute")));
}

TEST_F(Report, PrintedPartsAddUp) {
    // Thirds of a millisecond: 0.33 + 0.33 + 0.33 would miss 301.00 - 300.99.
    const std::string text = step_report(load_scenario(write(kGood)), hand_made(), {});
    EXPECT_THAT(text, HasSubstr("    forward                              100.00       33.2\n"
                                "    backward                             200.00       66.5\n"
                                "    optimizer                              0.33        0.1\n"
                                "  compute                                300.33       99.8\n"
                                "    AllGather over fsdp (weights)          0.33        0.1\n"
                                "    ReduceScatter over fsdp (gradients)    0.34        0.1\n"
                                "  exposed communication                    0.67        0.2\n"
                                "  step                                   301.00      100.0\n"));
}

TEST_F(Report, OccupancyIsReportedWhenShardsStandEmpty) {
    const Scenario scenario = load_scenario(write(good_but("256Ki", "160Ki")));
    EXPECT_THAT(step_report(scenario, hand_made(), {}),
                HasSubstr("40 sequences on 64 shards: 62.5 % of the work is on real tokens\n"));
}

TEST_F(Report, SaysWhetherTheHbmIsShared) {
    const auto report = [&](const std::string& hardware) {
        return step_report(load_scenario(write(good_but("4x4x4", hardware))), hand_made(), {});
    };
    EXPECT_THAT(report("4x4x4, hbm: shared"),
                HasSubstr(" (additive), HBM shared by kernels and messages, causal attention"));
    EXPECT_THAT(report("4x4x4, hbm: private"), HasSubstr(" (additive), causal attention"));
}

TEST_F(Report, WhatFitsSaysWhatIsLeft) {
    StepResult result = hand_made();
    result.memory.peak = sim::Bytes(60e9);
    result.memory.capacity = sim::Bytes(96e9);
    result.memory.fits = true;
    EXPECT_THAT(memory_report(load_scenario(write(kGood)), result),
                HasSubstr("  fits, with 36.00 GB to spare\n"));
}

TEST_F(Report, WhatDoesNotFitComesWithRemedies) {
    const Scenario scenario = load_scenario(
        write(std::string(kGood) + "training: {remat: none}\noverlap: {prefetch_layers: 2}\n"));
    StepResult result = hand_made();
    result.prefetch_layers = 0;
    result.memory.peak = sim::Bytes(23.81e9);  // that of the program in order
    result.memory.capacity = sim::Bytes(10e9);
    result.memory.fits = false;
    const std::string text = memory_report(scenario, result);
    EXPECT_THAT(text, HasSubstr("  does NOT fit: 13.81 GB too much\n"));
    EXPECT_THAT(text, HasSubstr("    training.remat: full: peak "));
    EXPECT_THAT(text, Not(HasSubstr("prefetch_layers")));
    EXPECT_THAT(step_report(scenario, result, {}),
                HasSubstr("does NOT fit in the memory of a chip"));

    result.memory.capacity = sim::Bytes(1e6);
    EXPECT_THAT(memory_report(scenario, result), HasSubstr("  no single change of "));
}

// Within 5 % of the capacity the report gives no certain verdict; an excess still has its remedies.
TEST_F(Report, WhatIsTightIsNotRefused) {
    const Scenario scenario =
        load_scenario(write(std::string(kGood) + "training: {remat: none}\n"));
    StepResult result = hand_made();
    result.prefetch_layers = 0;
    result.memory.tight = true;
    result.memory.capacity = sim::Bytes(40e9);
    result.memory.peak = sim::Bytes(39e9);
    result.memory.fits = true;
    EXPECT_THAT(memory_report(scenario, result),
                HasSubstr("  tight: 1.000 GB to spare, less than the 5 % of the capacity that this "
                          "account is true to\n"));
    EXPECT_THAT(memory_report(scenario, result), Not(HasSubstr("training.remat: full")));
    result.memory.peak = sim::Bytes(41e9);
    result.memory.fits = false;
    EXPECT_THAT(memory_report(scenario, result),
                HasSubstr("  tight: 1.000 GB too much, less than the 5 % "));
    EXPECT_THAT(memory_report(scenario, result), HasSubstr("    training.remat: full: peak "));
    EXPECT_THAT(step_report(scenario, result, {}),
                HasSubstr("  tight in the memory of a chip: it may not fit (see below)\n"));
}

TEST_F(Report, SmallerGroupsOfWeightsAreARemedy) {
    Scenario scenario = load_scenario(write(kGood));
    scenario.step().model.vocabulary = 1024;  // puts the peak into a layer
    StepResult result = hand_made();
    result.prefetch_layers = 0;
    scenario.step().plan.overlap.prefetch_layers = 0;
    result.memory.peak = workloads::peak_of_stages(scenario.step().model, scenario.step().plan);
    scenario.step().plan.overlap.weights = workloads::WeightGroups::matmul;
    result.memory.capacity = workloads::peak_of_stages(scenario.step().model, scenario.step().plan);
    result.memory.fits = false;
    ASSERT_LT(result.memory.capacity, result.memory.peak);
    const std::string offer =
        fmt::format("    overlap.weights: matmul: peak {} in program order, not simulated\n",
                    format_bytes(result.memory.capacity));
    EXPECT_THAT(memory_report(scenario, result), Not(HasSubstr(offer)));
    scenario.step().plan.overlap.weights = workloads::WeightGroups::layer;
    EXPECT_THAT(memory_report(scenario, result), HasSubstr(offer));
}

// A delay that happens to help, and a chip that is not the fullest: one line each below the gap,
// none without.
TEST_F(Report, NegativeTermsOfTheGapAreExplained) {
    const Scenario scenario = load_scenario(write(kGood));
    StepResult result = hand_made();
    EXPECT_THAT(step_report(scenario, result, {}), Not(HasSubstr("below zero")));
    result.gap = {{"launch", {0}}, {"latency", {-kMs}}, {"padding", {2 * kMs}}};
    const std::string order =
        "the whole would take longer, since operations and messages then meet in another order\n";
    EXPECT_THAT(step_report(scenario, result, {}),
                HasSubstr("  gap                        1.0000     100.0\n"
                          "  latency below zero: without it " +
                          order + "\n"));
    result.gap = {{"latency", {-kMs}},
                  {"contention", {-1}},
                  {"uneven stages", {-2 * kMs}},
                  {"rounding", {5 * kMs}}};
    EXPECT_EQ(negative_terms(result.gap),
              "  uneven stages below zero: the reported chip computes less than the fullest, by "
              "which the bound goes\n"
              "  latency and contention below zero: without each of them " +
                  order);
}

TEST_F(Report, JsonHasTheKeysOfTheContract) {
    const Scenario scenario = load_scenario(write(kGood));
    const Json json = step_json(scenario, hand_made(), {}, WallTime{0.0123, 0.5});
    EXPECT_EQ(json["schema"], "podsim/2");
    for (const char* const key :
         {"step_time_s", "compute_s", "exposed_communication_s", "mfu", "tokens_per_s", "hfu",
          "model_tflops_per_s_per_device", "flop_rule", "bound", "analytic", "gap_s",
          "critical_path_s", "memory", "links", "breakdown_s", "events", "played_events",
          "simulated_chips", "wall_time_s"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
    EXPECT_EQ(json["events"], 1234);
    EXPECT_EQ(json["played_events"], 234);
    EXPECT_EQ(json["bound"], "compute");
    EXPECT_EQ(json["analytic"]["book_s"], 0.31);
    EXPECT_EQ(json["analytic"]["roofline_lower_s"], 0.3);
    EXPECT_EQ(json["analytic"]["roofline_serial_s"], 0.4);
    EXPECT_EQ(json["gap_s"]["latency"], 0.001);
    EXPECT_EQ(json["memory"]["peak_bytes"], 40e9);
    EXPECT_EQ(json["memory"]["capacity_bytes"], 96e9);
    EXPECT_EQ(json["memory"]["fits"], true);
    EXPECT_EQ(json["links"]["ici_x"]["busy_fraction"], 0.4);
    EXPECT_EQ(json["links"]["ici_x"]["bytes"], 5e9);
    EXPECT_EQ(json["breakdown_s"]["compute"]["forward"], 0.1);
    EXPECT_EQ(json["simulated_chips"], 1);
    EXPECT_EQ(json["wall_time_s"], 0.0123);
    EXPECT_FALSE(step_json(scenario, hand_made(), {}).contains("wall_time_s"));
}

TEST_F(Report, VerdictsAreRelativeErrors) {
    Scenario scenario = load_scenario(write(kGood));
    scenario.expectations = {{"mfu", 0.44, 0.10, "", "", ""}, {"step_time", 0.2, 0.5, "", "", ""}};
    const std::vector<Verdict> verdicts = judge(scenario, hand_made());
    EXPECT_TRUE(verdicts[0].holds);
    EXPECT_FALSE(verdicts[1].holds);
    EXPECT_NEAR(verdicts[1].error, 0.505, 1e-6);
    EXPECT_FALSE(all_hold(verdicts));
    EXPECT_EQ(verdict_text(verdicts[0]), "mfu holds: 44.00 % expected (+2.27 %, within 10 %)");
    EXPECT_THAT(step_report(scenario, hand_made(), verdicts), HasSubstr("step_time  FAILS"));
}

}  // namespace
}  // namespace podsim::scenarios
