// The collective matmul: exact times of one by hand, whole steps, and the reference text's
// turning point.
#include <gtest/gtest.h>

#include "collectives/algorithms/ring_step_schedule.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::ceil_ps;
using samples::make_scenario;
using CollectiveMatmulFile = CommandTest;

/// Returns a 1024 x 2048 by 2048 x n product in bf16, with rows of the left operand gathered: V is
/// 4 MiB.
Program gathered_rows(const IdealHardware& hardware, const collectives::Group& group, double n,
                      bool two_way) {
    StageCompute matmul;
    matmul.work.flops = sim::Flops(2 * 1024 * 2048 * n);
    matmul.work.matmuls = {{1024, 2048, n, 1}};
    matmul.work.hbm = sim::Bytes(2 * (1024 * 2048 + 2048 * n + 1024 * n));
    matmul.gather = StageGather{.members = {group, {}},
                                .bytes = sim::Bytes(2 * 1024 * 2048),
                                .order = collectives::step_gather(hardware.slice, group, two_way),
                                .blocking = false,
                                .every_part = sim::Bytes(2 * 2048 * n),
                                .later_parts = {}};
    Program program;
    program.stages.push_back({"matmul", matmul});
    return program;
}

std::int64_t time_of(const IdealHardware& hardware, const Program& program) {
    const ProgramResult folded = simulate_program(hardware, program, Fold::automatic);
    EXPECT_EQ(folded.time, simulate_program(hardware, program, Fold::off).time);
    EXPECT_GE(folded.time.seconds(), folded.lower.value());
    return folded.time.ps;
}

// A ring of 4 on v5p, 90 GB/s and 1 us a link; blocks of 1 MiB take tau = 11.650845 us. With
// n = 128 a segment is bound by HBM: 256 rows of 2048 (1 MiB), the weights (0.5 MiB), the result
// (64 KiB) at 2.8 TB/s: p. Its math takes less. Only the last segment waits for the links:
//   one-way   3 steps of tau + a, then p
//   two-way   tau + a, half a block tau/2 + a, then p
// With n = 65536 the segments, by FLOPs, take longer than a step: 4 p.
TEST(CollectiveMatmul, OnARingOfFourByHand) {
    const IdealHardware hardware = hardware_from_options({.chip = "v5p", .slice = "4x4x4"});
    const collectives::Group ring{{0, 1, 4}};
    const std::int64_t a = 1'000'000;
    const std::int64_t tau = ceil_ps(1048576 / 90e9);
    EXPECT_EQ(tau, 11'650'845);
    const double hbm = hardware.chip.hbm_bandwidth.value.value();
    const std::int64_t p = ceil_ps((1048576.0 + 524288 + 65536) / hbm);
    EXPECT_EQ(time_of(hardware, gathered_rows(hardware, ring, 128, false)), 3 * (tau + a) + p);
    EXPECT_EQ(time_of(hardware, gathered_rows(hardware, ring, 128, true)),
              tau + a + ceil_ps(524288 / 90e9) + a + p);
    const std::int64_t long_part = ceil_ps(2.0 * 256 * 2048 * 65536 / 459e12);
    EXPECT_EQ(time_of(hardware, gathered_rows(hardware, ring, 65536, false)), 4 * long_part);
    EXPECT_EQ(time_of(hardware, gathered_rows(hardware, ring, 65536, true)), 4 * long_part);
}

// A line of 4 is walked 0 2 3 1: two links, one, two, one, cut through. A block that crosses two
// links twice arrives 5 a later than its bytes; no link carries two blocks at once. A block of 4 of
// an axis of 8 does the same.
TEST(CollectiveMatmul, OnALineOfFourByHand) {
    for (const char* slice : {"2x4", "2x8"}) {
        const IdealHardware hardware = hardware_from_options({.chip = "v5e", .slice = slice});
        const collectives::Group line{{1, 1, 4}};
        const std::int64_t a = 1'000'000;
        const std::int64_t tau = ceil_ps(1048576 / 45e9);
        const double hbm = hardware.chip.hbm_bandwidth.value.value();
        const std::int64_t p = ceil_ps((1048576.0 + 524288 + 65536) / hbm);
        for (const bool two_way : {false, true}) {
            EXPECT_EQ(time_of(hardware, gathered_rows(hardware, line, 128, two_way)),
                      3 * tau + 5 * a + p);
        }
    }
}

// Blocks of 16 MiB are cut into four messages; a step begins when the whole previous block
// has arrived.
TEST(CollectiveMatmul, StepsForwardWholeBlocks) {
    const IdealHardware hardware = hardware_from_options({.chip = "v5p", .slice = "4x4x4"});
    Program program = gathered_rows(hardware, {{0, 1, 4}}, 128, false);
    auto& matmul = std::get<StageCompute>(program.stages[0].work);
    matmul.gather->bytes = sim::Bytes(64.0 * 1024 * 1024);
    const double hbm = hardware.chip.hbm_bandwidth.value.value();
    const std::int64_t p = ceil_ps((1048576.0 + 524288 + 65536) / hbm);
    EXPECT_EQ(time_of(hardware, program), 3 * (4 * ceil_ps(4194304 / 90e9) + 1'000'000) + p);
}

TEST(CollectiveMatmul, FoldedEqualsUnfoldedOnEveryKindOfGroup) {
    const IdealHardware hardware = hardware_from_options({.chip = "v5p", .slice = "4x4x8"});
    const collectives::Group groups[] = {{{0, 1, 4}},
                                         {{2, 1, 4}},
                                         {{2, 2, 4}},
                                         {{2, 2, 2}},
                                         {{0, 1, 4}, {1, 1, 4}},
                                         {{0, 1, 2}, {1, 2, 2}, {2, 1, 8}}};
    for (const collectives::Group& group : groups) {
        for (const bool two_way : {false, true}) {
            time_of(hardware, gathered_rows(hardware, group, 4096, two_way));
        }
    }
}

// ---- Whole steps.

void overlap(Scenario& scenario, bool two_way) {
    if (scenario.step().plan.ways.tensor > 1) {
        scenario.step().plan.overlap.tensor_steps = collectives::step_gather(
            scenario.hardware.slice, scenario.step().mesh.group({"tensor"}), two_way);
    }
}

workloads::ModelSpec model() {
    workloads::ModelSpec spec = samples::small_model(3);
    spec.d_model = 2048;
    spec.d_ff = 8192;
    spec.heads = spec.kv_heads = 64;
    return spec;
}

// Covers every form of tensor group on a 4x4x4 slice, also with experts and parallel blocks.
TEST(CollectiveMatmulStep, FoldedEqualsUnfoldedAndTwoWayIsNoSlowerThanBlocking) {
    const std::vector<std::pair<std::string, std::string>> meshes[] = {
        {{"fsdp", "y z"}, {"tensor", "x"}},
        {{"fsdp", "x/2 y z"}, {"tensor", "x%2"}},
        {{"fsdp", "x%2 y z"}, {"tensor", "x/2"}},
        {{"data", "z"}, {"tensor", "x y"}},
        {{"tensor", "x y z"}},
        {{"context", "z"}, {"expert", "x%2 y/2"}, {"tensor", "x/2 y%2"}}};
    for (const auto& mesh : meshes) {
        for (const int kind : {0, 1, 2}) {
            SCOPED_TRACE(mesh.back().second + " kind " + std::to_string(kind));
            workloads::ModelSpec spec = model();
            spec.parallel_block = kind == 1;
            if (kind == 2 || mesh.size() == 3) {
                spec.parallel_block = false;
                spec.experts = {.count = 4, .per_token = 2, .shared = 1, .d_ff = 4096};
            }
            Scenario scenario = make_scenario("v5p", {4, 4, 4}, spec, mesh, 64, 2048);
            scenario.step().plan.remat.policy =
                kind == 0 ? workloads::RematPolicy::none : workloads::RematPolicy::block;
            // Without embedding the first layer's gather is the program's first operation.
            scenario.step().plan.layers_only = kind == 1;
            const StepResult blocking = simulate_step(scenario, Fold::automatic);
            for (const bool two_way : {false, true}) {
                overlap(scenario, two_way);
                const StepResult folded = simulate_step(scenario, Fold::automatic);
                const StepResult whole = simulate_step(scenario, Fold::off);
                EXPECT_EQ(folded.step_time, whole.step_time);
                EXPECT_EQ(folded.links.front().bytes, whole.links.front().bytes);
                EXPECT_GE(folded.step_time.seconds(), folded.lower.time.value());
                EXPECT_EQ(samples::sum(folded.gap).ps,
                          folded.step_time.ps - sim::round_down(folded.lower.time).ps);
                if (two_way) {
                    EXPECT_LE(folded.step_time, blocking.step_time);
                }
            }
        }
    }
}

// Attention of long sequences hides the blocks; a gather precedes it.
TEST(RingAttentionStep, FoldedEqualsUnfoldedAndLongSequencesHideTheRing) {
    for (const std::string context : {"x", "x%2", "x/2"}) {
        SCOPED_TRACE(context);
        const std::string rest = context == "x" ? "y z" : context == "x%2" ? "x/2 y z" : "x%2 y z";
        Scenario scenario = make_scenario("v5p", {4, 4, 4}, model(),
                                          {{"fsdp", rest}, {"context", context}}, 64, 32768);
        const StepResult gathered = simulate_step(scenario, Fold::automatic);
        scenario.step().plan.overlap.context_steps = collectives::step_gather(
            scenario.hardware.slice, scenario.step().mesh.group({"context"}), false);
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        EXPECT_EQ(folded.step_time, simulate_step(scenario, Fold::off).step_time);
        EXPECT_LT(folded.step_time, gathered.step_time);
        EXPECT_GE(folded.step_time.seconds(), folded.lower.time.value());
        sim::Time exposed;
        for (const Share& share : folded.exposed) {
            if (share.name == "AllGather over context (context)") {
                exposed += share.time;
            }
        }
        EXPECT_EQ(exposed.ps, 0);
    }
}

/// Returns the time from the first compute of a layer to that of the next, forward, in the
/// steady state.
double overlapped_period(std::int64_t d_ff) {
    Scenario scenario = make_scenario("v5p", {16, 4, 4}, samples::two_matmuls(4, d_ff),
                                      {{"data", "y z"}, {"tensor", "x"}}, 16 * 128, 128);
    scenario.hardware.chip.mxu_dimension.value = 1;
    scenario.hardware.chip.hbm_bandwidth.value = sim::BytesPerSecond::infinity();
    overlap(scenario, true);
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    return samples::start_of(result, "layer 2 forward") -
           samples::start_of(result, "layer 1 forward");
}

// Overlapped tensor parallelism on one axis of v5p turns from compute to communication at
//     Y = F / 2550 x (n - 1) / n,   2550 = C / W = 459e12 / 180e9:
// 4 B D F / (Y C) of math against 2 x 2 B D (n-1)/n / W of the gather and the scatter. The compute
// line goes through the periods at large F, the plateau is the period at a small one.
TEST(CollectiveMatmulStep, TurningPointIsThatOfTheReferenceText) {
    const double far = overlapped_period(256 * 1024);
    const double farther = overlapped_period(512 * 1024);
    const double slope = (farther - far) / (256 * 1024);
    const double plateau = overlapped_period(256);
    const double knee = (plateau - (far - slope * 256 * 1024)) / slope;
    const double expected = 16 * 2550 * 15.0 / 16;
    EXPECT_NEAR(knee / expected, 1, 0.05);
    // At the turning point the period is at least that of the plateau.
    EXPECT_GE(overlapped_period(static_cast<std::int64_t>(expected) / 16 * 16), plateau);
}

// ---- Files.

TEST_F(CollectiveMatmulFile, TheProfiledCollectiveMatmul) {
    const std::string scenarios = source_folder() + "/scenarios/";
    const auto seconds = [&](const std::string& file) {
        const Outcome outcome = podsim({"run", scenarios + file, "--json", "-"});
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out)["step_time_s"].get<double>();
    };
    // 3 steps of 1 MiB along the line and its 3 us, then 2 x 512 x 2048 x 2048 FLOPs at
    // 19.2 TFLOP/s.
    const double math = 2.0 * 512 * 2048 * 2048 / 19.2e12;
    EXPECT_NEAR(seconds("book/sec10-collective-matmul-blocking.yaml"),
                math + 3 * 1048576 / 45e9 + 3e-6, 1e-11);
    // Every step is hidden: 224 us in the text's three digits.
    EXPECT_NEAR(seconds("book/sec10-collective-matmul.yaml"), math, 1e-11);
    const Outcome bf16 = podsim({"run", scenarios + "examples/collective-matmul-bf16-v5e.yaml"});
    EXPECT_NE(bf16.out.find("matmul is communication-bound: its gather takes 34.95 us alone, its "
                            "matmul 21.80 us"),
              std::string::npos)
        << bf16.out;
}

TEST_F(CollectiveMatmulFile, SaysWhatIsWrong) {
    const auto error = [&](const std::string& text) {
        const std::string file = write(text);
        const Outcome outcome = podsim({"run", file});
        EXPECT_EQ(outcome.status, 2);
        return outcome.err.substr(outcome.err.find(".yaml:") + 6);
    };
    const std::string step = std::string(kGood) + "overlap: {tensor: ";
    EXPECT_EQ(error(step + "three-way}\n"),
              "5:19: unknown overlap.tensor 'three-way'; allowed: blocking, one-way, two-way\n");
    EXPECT_EQ(
        error("hardware: {chip: v5p, slice: 4x4x4}\nmodel: llama-3-8b\n"
              "batch: {tokens: 256Ki, sequence: 4096}\n"
              "mesh: {fsdp: z, context: x y}\noverlap: {context: ring}\n"),
        "5:20: overlap.context: the axis context has several factors, along which there is no "
        "one ring; write gathered, or keep context on one axis\n");
    EXPECT_EQ(error("hardware: {chip: v5p, slice: 4x4x4, slices: 2}\nmodel: llama-3-8b\n"
                    "batch: {tokens: 256Ki, sequence: 4096}\n"
                    "mesh: {fsdp: x y z, tensor: slice}\noverlap: {tensor: two-way}\n"),
              "5:19: overlap.tensor: the axis tensor has members in several slices, between which "
              "there are no ring steps; leave it out, or keep tensor within a slice\n");
    const auto program = [](const std::string& pieces, const std::string& keys) {
        return "hardware: {chip: v5e, slice: 2x4}\nprogram:\n" + pieces +
               "  stages:\n    - {do: matmul, m: 8, k: 8, n: 8, " + keys + "}\n";
    };
    EXPECT_EQ(error(program("  pieces: 2\n", "gather: {axes: y}")),
              "5:46: program.stages.gather: a gathered operand does not go with pieces; "
              "write pieces: 1\n");
    EXPECT_EQ(error(program("", "at: \"0,0\", gather: {axes: y}")),
              "4:42: program.stages.at: a gathered operand is for every chip of its group; "
              "leave out at, or gather\n");
    EXPECT_EQ(error(program("", "gather: {axes: y, split: n}")),
              "4:63: unknown program.stages.gather.split 'n'; allowed: m, k\n");
    EXPECT_EQ(error(program("", "gather: {axes: y%1}")),
              "4:53: program.stages.gather.axes: the group has a single member; "
              "name axes longer than 1\n");
}

}  // namespace
}  // namespace podsim::scenarios
