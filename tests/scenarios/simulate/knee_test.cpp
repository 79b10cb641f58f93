// The turning points of the rooflines, found in simulation: the two-matmul layer of the reference
// text (In[B, D] x W_in[D, F] x W_out[F, D], bf16), no padding, infinite HBM, no latency, the
// steady period of a layer.
//
// The knee is the intersection of the compute line, drawn through two large batches, with the
// communication plateau of a small one. The text's formula counts V / W for a collective, which
// moves V (n - 1) / n.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "collectives/algorithms/ring_step_schedule.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::Mesh;

/// Sequences are as short as possible, so attention between tokens is negligible.
Scenario layer_of(topology::Point shape, int slices, const Mesh& mesh, std::int64_t d_ff,
                  std::int64_t tokens_per_shard) {
    Scenario scenario =
        samples::make_scenario("v5p", shape, samples::two_matmuls(12, d_ff), mesh, 1, 16, slices);
    topology::ChipSpec& chip = scenario.hardware.chip;
    samples::leave_math_alone(chip);
    chip.hbm_capacity.value = sim::Bytes::infinity();
    for (auto* latency : {&chip.ici_latency, &chip.pcie_latency, &chip.dcn_latency}) {
        latency->value = sim::Seconds(0);
    }
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.batch.tokens = tokens_per_shard / 16 * 16 * plan.ways.data * plan.ways.fsdp;
    plan.remat.policy = workloads::RematPolicy::none;
    plan.optimizer = workloads::Optimizer::sgd;
    plan.overlap.prefetch_layers = 2;
    return scenario;
}

/// Returns the time from the first compute of one layer to that of the next, in the middle of
/// a pass.
double layer_period(const Scenario& scenario, const std::string& pass) {
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    const auto start = [&](int layer) {
        return samples::start_of(result, "layer " + std::to_string(layer) + ' ' + pass);
    };
    return pass == "forward" ? (start(6) - start(4)) / 2 : (start(2) - start(4)) / 2;
}

/// Returns the knee in the units of `at`: `at(x)` is the period for x, linear for large x, level
/// for small ones.
template <class Period>
double knee(Period at, std::int64_t small, std::int64_t large) {
    const double slope = (at(2 * large) - at(large)) / static_cast<double>(large);
    const double from_zero = at(large) - slope * static_cast<double>(large);
    return (at(small) - from_zero) / slope;
}

constexpr double kAlpha = 459e12 / 180e9;  // 2550: FLOP/s over a link's bytes/s in both directions

// 4 B D F / C of math against 4 D F (n - 1)/n / (axes W) of the gather.
TEST(Knee, FullyShardedOverOneTwoAndThreeAxes) {
    const Mesh meshes[] = {
        {{"data", "y z"}, {"fsdp", "x"}}, {{"data", "z"}, {"fsdp", "x y"}}, {{"fsdp", "x y z"}}};
    double members = 1;
    for (int axes = 1; axes <= 3; ++axes) {
        members *= 16;
        const double found = knee(
            [&](std::int64_t tokens) {
                return layer_period(layer_of({16, 16, 16}, 1, meshes[axes - 1], 32768, tokens),
                                    "forward");
            },
            64, 16384);
        const double expected = kAlpha / axes * (members - 1) / members;
        EXPECT_NEAR(found / expected, 1, 0.05) << axes << " axes, " << found << " tokens a chip";
    }
}

// Backward: 8 B D F / C_pod of math against 8 D F (M - 1)/M / W_DCN of the AllReduce of bf16
// gradients. C_pod / W_DCN is the same for every v5p pod, with four chips and 25 GB/s a host.
TEST(Knee, DataParallelBetweenSlices) {
    constexpr int kSlices = 8;
    const double found = knee(
        [&](std::int64_t tokens) {
            return layer_period(
                layer_of({4, 4, 4}, kSlices, {{"data", "slice"}, {"fsdp", "x y z"}}, 32768, tokens),
                "backward");
        },
        64, 16384);
    const double per_pod = 4 * 459e12 / 25e9;
    EXPECT_NEAR(per_pod, 73440, 1e-6);
    const double expected = per_pod / 64 * (kSlices - 1) / kSlices;
    EXPECT_NEAR(found / expected, 1, 0.05) << found * 64 << " tokens a pod";
}

/// Returns FSDP over two axes of 16 (X = 256) and tensor over one (Y = 16), at the width for which
/// the text's X_opt = sqrt(B M_X N / (F M_Y)) is that X at the knee.
Scenario mixed(std::int64_t d_ff, std::int64_t tokens_per_chip, bool serialised) {
    Scenario scenario =
        layer_of({16, 16, 16}, 1, {{"fsdp", "y z"}, {"tensor", "x"}}, d_ff, 16 * tokens_per_chip);
    scenario.step().plan.overlap.tensor_steps = collectives::step_gather(
        scenario.hardware.slice, scenario.step().mesh.group({"tensor"}), true);
    scenario.step().plan.overlap.collectives_in_flight = serialised ? 1 : 0;
    return scenario;
}

// The two communication times at X_opt add up: B / N = 4 alpha^2 / (M_X M_Y F). Overlapped tensor
// collectives stay beside the math; one collective in flight puts the two one after the other.
TEST(Knee, FullyShardedAndTensorOneAfterTheOther) {
    const std::int64_t d_ff = static_cast<std::int64_t>(2 * kAlpha * 16);
    const double tokens = 4 * kAlpha * kAlpha / (2 * static_cast<double>(d_ff));
    const double math = 4 * tokens * 8192 * static_cast<double>(d_ff) / 459e12;
    const auto at = static_cast<std::int64_t>(std::lround(tokens));
    // At the knee math equals the sum of both communications. Each collective moves (n - 1)/n of
    // its half.
    Scenario communication = mixed(d_ff, at, true);
    communication.hardware.chip.bf16_flops.value = sim::FlopsPerSecond::infinity();
    const double expected = math * (255.0 / 256 + 15.0 / 16) / 2;
    EXPECT_NEAR(layer_period(communication, "forward") / expected, 1, 0.05);
}

// Side by side on their own axes each can hide behind the whole math, with the knee at
// B / N = alpha^2 / (M_X M_Y F).
TEST(Knee, FullyShardedAndTensorBesideEachOther) {
    const std::int64_t d_ff = static_cast<std::int64_t>(kAlpha * 16);
    const double tokens = kAlpha * kAlpha / (2 * static_cast<double>(d_ff));
    const double math = 4 * tokens * 8192 * static_cast<double>(d_ff) / 459e12;
    const auto at = static_cast<std::int64_t>(std::lround(tokens));
    Scenario communication = mixed(d_ff, at, false);
    communication.hardware.chip.bf16_flops.value = sim::FlopsPerSecond::infinity();
    EXPECT_NEAR(layer_period(communication, "forward") / math, 1, 0.05);
}

// Overlapped tensor over two axes of 16, Y = 256, F swept: F = Y alpha / n_axes (n - 1)/n, at which
// 4 B D F / (Y C) of math equals 4 B D (n - 1)/n / (2 W) of gather and scatter.
TEST(Knee, OverlappedTensorOverTwoAxes) {
    const auto at = [](std::int64_t d_ff) {
        Scenario scenario =
            layer_of({16, 16, 4}, 1, {{"data", "z"}, {"tensor", "x y"}}, d_ff, 16384);
        scenario.step().model.heads = scenario.step().model.kv_heads =
            scenario.step().model.vocabulary = 256;
        scenario.step().plan.overlap.tensor_steps = collectives::step_gather(
            scenario.hardware.slice, scenario.step().mesh.group({"tensor"}), true);
        return layer_period(scenario, "forward");
    };
    const double found = knee(at, 256, 4096 * 256);
    const double expected = 256 * kAlpha / 2 * 255 / 256;
    EXPECT_NEAR(found / expected, 1, 0.05) << "F = " << found;
}

// N = 64, B = 48,000, F = 32,768. Among the meshes of whole axes, the one with the minimum sum of
// the text's communication times, 4 D F / (Y W M_X) + 4 B D / (X W M_Y), is also the fastest in
// simulation (X = 16, Y = 4; X_opt is 13.9 with M_X = 2, M_Y = 1). Math takes no time, one
// collective is in flight.
TEST(Optimum, IsTheMeshThatMinimisesTheTextsCommunication) {
    struct Choice {
        Mesh mesh;
        double x, y, axes_x, axes_y;
    };
    const Choice choices[] = {{{{"fsdp", "x y z"}}, 64, 1, 3, 0},
                              {{{"fsdp", "y z"}, {"tensor", "x"}}, 16, 4, 2, 1},
                              {{{"fsdp", "z"}, {"tensor", "x y"}}, 4, 16, 1, 2},
                              {{{"tensor", "x y z"}}, 1, 64, 0, 3}};
    std::vector<double> text;
    std::vector<double> simulated;
    for (const Choice& choice : choices) {
        text.push_back((choice.axes_x > 0 ? 4 * 32768 / (choice.y * choice.axes_x) : 0) +
                       (choice.axes_y > 0 ? 4 * 48000 / (choice.x * choice.axes_y) : 0));
        Scenario scenario =
            layer_of({4, 4, 4}, 1, choice.mesh, 32768, static_cast<std::int64_t>(48000 / choice.x));
        scenario.step().model.heads = scenario.step().model.kv_heads = 64;
        scenario.step().plan.overlap.collectives_in_flight = 1;
        scenario.hardware.chip.bf16_flops.value = sim::FlopsPerSecond::infinity();
        simulated.push_back(layer_period(scenario, "forward"));
    }
    EXPECT_EQ(std::ranges::min_element(text) - text.begin(), 1);
    EXPECT_EQ(std::ranges::min_element(simulated) - simulated.begin(), 1);
    // Each is the text's sum, less what a chip already holds ((n - 1)/n) and within the rounding of
    // the batch.
    for (std::size_t i = 0; i < text.size(); ++i) {
        const Choice& choice = choices[i];
        const double fsdp = choice.axes_x > 0 ? 4 * 32768 / (choice.y * choice.axes_x) : 0;
        const double expected =
            fsdp * (choice.x - 1) / choice.x + (text[i] - fsdp) * (choice.y - 1) / choice.y;
        EXPECT_NEAR(simulated[i] / (expected * 8192 / 180e9), 1, 0.05) << i;
    }
}

}  // namespace
}  // namespace podsim::scenarios
