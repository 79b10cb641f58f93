// The dependence of a step on the order of operations, compared with runs by hand; recomputed
// orders that are worse than the step's.
#include "scenarios/src/advise/order_noise.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "scenarios/src/advise/what_if.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

/// Weights over slices beside activations within them, ordered by the scheduler, whose order for a
/// fast network is the worse one.
constexpr const char* kCrowded =
    "hardware: {chip: v4p, slice: 2x2x4, slices: 4, profile: ideal}\n"
    "model: {base: gemma-2b, layers: 4, d_model: 512, d_ff: 8192, vocabulary: 8192, heads: 16, "
    "head_dim: 64, kv_heads: 16}\n"
    "batch: {tokens: 65536, sequence: 2048}\n"
    "mesh: {tensor: x y, context: z, fsdp: slice}\n"
    "training: {remat: matmuls}\n"
    "overlap: {schedule: latency_hiding, prefetch_layers: 2, reductions_in_flight: 2}\n";

using OrderNoiseTest = CommandTest;

double seconds_of(const Scenario& scenario, const IdealHardware* compiled_for = nullptr) {
    return simulate_step(scenario, Fold::automatic,
                         {.explain = false, .compiled_for = compiled_for})
        .step_time.seconds();
}

// A step without noise lies between T and f T, for each thing that takes f times as long.
TEST_F(OrderNoiseTest, IsWhatLiesOutsideOfWhatAThingCanCost) {
    const Scenario scenario = load_scenario(write(kCrowded, "s.yaml"));
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    const double step = result.step_time.seconds();
    const std::vector<std::function<void(topology::ChipSpec&, double)>> things = {
        [](auto& chip, double f) {
            chip.bf16_flops.value = chip.bf16_flops.value / f;
            chip.vpu_flops.value = chip.vpu_flops.value / f;
        },
        [](auto& chip, double f) { chip.hbm_bandwidth.value = chip.hbm_bandwidth.value / f; },
        [](auto& chip, double f) { chip.ici_one_way_book.value = chip.ici_one_way_book.value / f; },
        [](auto& chip, double f) { chip.pcie_one_way.value = chip.pcie_one_way.value / f; },
        [](auto& chip, double f) { chip.dcn_per_host.value = chip.dcn_per_host.value / f; },
        [](auto& chip, double f) {
            chip.ici_latency.value = chip.ici_latency.value * f;
            chip.pcie_latency.value = chip.pcie_latency.value * f;
            chip.dcn_latency.value = chip.dcn_latency.value * f;
        }};
    double outside = 0;
    for (const auto& change : things) {
        Scenario slower = scenario;
        change(slower.hardware.chip, 1.01);
        const double more = seconds_of(slower) / step;
        Scenario faster = scenario;
        change(faster.hardware.chip, 1 / 1.1);
        const double less = seconds_of(faster) / step;
        outside = std::max({outside, 1 - more, more - 1.01, 1 / 1.1 - less, less - 1});
    }
    const auto noise = order_noise(scenario, result, true);
    ASSERT_TRUE(noise.has_value());
    EXPECT_GT(outside, 0);
    EXPECT_DOUBLE_EQ(noise->share, outside);
}

// On one chip operations follow each other: each takes between its time and f times that, except
// for rounding up to a picosecond.
TEST_F(OrderNoiseTest, IsNoneOnOneChip) {
    const Scenario scenario =
        samples::make_scenario("v5e", {1, 1, 1}, samples::small_model(2), {}, 2, 256);
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    EXPECT_LT(order_noise(scenario, result, true)->share, 1e-6);
    StepResult large = result;
    large.played_events = kMostEventsOfOrderNoise + 1;
    EXPECT_FALSE(order_noise(scenario, large, true).has_value());
}

TEST_F(OrderNoiseTest, IsToldAboveHalfAPercent) {
    StepResult result;
    result.step_time = {100'000'000'000};
    const OrderNoise less{0.034, "1 % slower ICI", {96'600'000'000}};
    EXPECT_EQ(
        order_noise_text(less, result),
        "Order: with 1 % slower ICI the step takes 96.60 ms, 3.4 % less, since operations and "
        "messages then meet in another order; differences below 3.4 % are noise\n");
    const OrderNoise more{0.02, "10 % faster HBM", {102'000'000'000}};
    EXPECT_EQ(
        order_noise_text(more, result),
        "Order: with 10 % faster HBM the step takes 102.0 ms, 2.0 % more, since operations and "
        "messages then meet in another order; differences below 2.0 % are noise\n");
    EXPECT_EQ(order_noise_text(OrderNoise{0.0049, "HBM", {}}, result), "");
    EXPECT_EQ(order_noise_text(std::nullopt, result), "");
    EXPECT_EQ(order_noise_json(less).dump(),
              R"({"fraction":0.034,"with":"1 % slower ICI","step_time_s":0.0966})");
    EXPECT_EQ(order_noise_json({}).dump(), R"({"fraction":0.0})");
}

// A tenth faster is 1 - 1 / 1.1 = 9.1 % at most, and never slower, except through the order
// of operations.
TEST_F(OrderNoiseTest, FasterResourcesAreSaidWithWhatIsNotTheirs) {
    StepResult result;
    result.step_time = {100'000'000'000};
    OrderNoise noise;
    noise.faster = {{"compute", {95'000'000'000}},
                    {"ICI", {88'000'000'000}},
                    {"HBM", {100'001'000'000}},
                    {"latency", {101'000'000'000}}};
    EXPECT_EQ(faster_text(noise, result),
              "  10 % faster saves of the step: ICI 12.0 % (in part by the order of operations), "
              "compute 5.0 %, HBM nothing, latency -1.0 % (slower, by the order of operations)\n");
    EXPECT_EQ(faster_text(std::nullopt, result), "");
    noise.twice = {{"ICI", {80'000'000'000}}, {"compute", {94'000'000'000}}};
    EXPECT_THAT(faster_text(noise, result),
                ::testing::EndsWith("; twice as fast: ICI 20.0 %, compute 6.0 %\n"));
    const Json json = faster_json(noise.faster, result);
    ASSERT_EQ(json.size(), 4U);
    EXPECT_EQ(json[0]["resource"], "compute");
    EXPECT_EQ(json[0]["step_time_s"], 0.095);
    EXPECT_NEAR(json[0]["saved_fraction"].get<double>(), 0.05, 1e-12);
}

// The two that save most run twice as fast, each as a run of the scenario changed by hand.
TEST_F(OrderNoiseTest, TwiceAsFastIsSimulated) {
    const Scenario scenario = load_scenario(write(kCrowded, "s.yaml"));
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    const auto noise = order_noise(scenario, result, true);
    std::vector<FasterResource> faster = noise->faster;
    std::ranges::stable_sort(faster, {}, &FasterResource::step_time);
    ASSERT_EQ(noise->twice.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(noise->twice[i].what, faster[i].what);
        Scenario twice = scenario;
        topology::ChipSpec& chip = twice.hardware.chip;
        const auto halve = [](auto&... latencies) {
            ((latencies.value = latencies.value * 0.5), ...);
        };
        const auto double_all = [](auto&... rates) { ((rates.value = rates.value / 0.5), ...); };
        noise->twice[i].what == "compute"
            ? double_all(chip.bf16_flops, chip.int8_ops, chip.fp8_flops, chip.vpu_flops)
        : noise->twice[i].what == "ICI" ? double_all(chip.ici_one_way_book, chip.ici_one_way_vendor)
        : noise->twice[i].what == "DCN" ? double_all(chip.dcn_per_host)
        : noise->twice[i].what == "PCIe" ? double_all(chip.pcie_one_way)
        : noise->twice[i].what == "HBM"
            ? double_all(chip.hbm_bandwidth)
            : halve(chip.ici_latency, chip.pcie_latency, chip.dcn_latency);
        EXPECT_EQ(noise->twice[i].step_time.seconds(), seconds_of(twice)) << noise->twice[i].what;
    }
}

TEST_F(OrderNoiseTest, IsInTheJsonOfARun) {
    const Outcome run = podsim({"run", write(kCrowded, "s.yaml"), "--json", "-"});
    const auto json = nlohmann::json::parse(run.out);
    const Scenario scenario = load_scenario(write(kCrowded, "s.yaml"));
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    EXPECT_EQ(json["order_noise"]["fraction"], order_noise(scenario, result, true)->share);
}

// Ordered for infinitely fast links between slices the step is slower than in its own order, which
// is then kept.
TEST_F(OrderNoiseTest, OrdersAnewKeepTheBetterOne) {
    const Scenario scenario = load_scenario(write(kCrowded, "s.yaml"));
    Scenario fast = scenario;
    fast.hardware.chip.dcn_per_host.value = sim::BytesPerSecond::infinity();
    const double kept = seconds_of(fast, &scenario.hardware);
    ASSERT_GT(seconds_of(fast), 1.05 * kept);
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    for (const Ceiling& ceiling :
         what_if(scenario, result, Fold::automatic, {.reschedule = true})) {
        if (ceiling.name == "dcn=inf") {
            EXPECT_EQ(ceiling.step_time.seconds(), kept);
            return;
        }
    }
    FAIL() << "no ceiling for dcn=inf";
}

}  // namespace
}  // namespace podsim::scenarios
