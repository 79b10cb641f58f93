// Steps with plain causal placement: ranks with unequal work, the waits for them, and no folding
// across them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/algorithms/ring_step_schedule.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/stream_account.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using PlacementFile = CommandTest;

Scenario plain(Scenario scenario, bool ring) {
    scenario.step().plan.attention.placement = workloads::Placement::plain;
    if (ring) {
        scenario.step().plan.overlap.context_steps = collectives::step_gather(
            scenario.hardware.slice, scenario.step().mesh.group({"context"}), false);
    }
    return scenario;
}

struct PlainCase {
    samples::Mesh mesh;
    int chips = 0;  ///< simulated
    bool one_axis = true;
    topology::Point shape{4, 4, 4};
    const char* chip = "v5p";
};

// A whole axis, a block of neighbours, a strided factor (which keeps the axis's length), a line,
// two axes; tensor, expert and data parallelism beside it. The axis of context is not folded. Other
// axes fold to their own period, and their blocks and lines to mirror images.
const std::vector<PlainCase>& plain_cases() {
    static const std::vector<PlainCase> all{
        {{{"fsdp", "x y"}, {"context", "z"}}, 4},
        {{{"fsdp", "x"}, {"tensor", "y"}, {"context", "z"}}, 4},
        {{{"fsdp", "x y z/2"}, {"context", "z%2"}}, 2},
        {{{"fsdp", "x y z%2"}, {"context", "z/2"}}, 4},
        {{{"data", "x"}, {"fsdp", "y/2"}, {"tensor", "y%2"}, {"context", "z"}}, 4},
        {{{"fsdp", "x"}, {"context", "y z"}}, 16, false},
        {{{"expert", "x%2 y"}, {"context", "x/2"}, {"tensor", "z"}}, 4},
        {{{"fsdp", "x"}, {"context", "y"}}, 8, true, {4, 4, 1}, "v5e"}};
    return all;
}

TEST(PlainPlacementStep, FoldedEqualsUnfoldedToThePicosecond) {
    for (const PlainCase& one : plain_cases()) {
        for (const bool ring : {false, true}) {
            SCOPED_TRACE(::testing::PrintToString(one.mesh) + (ring ? " ring" : " gathered"));
            if (ring && !one.one_axis) {
                continue;
            }
            workloads::ModelSpec model = samples::small_model(2);
            Scenario base = make_scenario(one.chip, one.shape, model, one.mesh, 32, 4096);
            if (base.step().plan.ways.expert > 1) {
                base.step().model.experts = {.count = 8, .per_token = 2, .d_ff = 1024};
            }
            const Scenario scenario = plain(base, ring);
            const StepResult folded = samples::expect_folded_equals_unfolded(scenario);
            EXPECT_EQ(folded.simulated_chips, one.chips);
            const auto rank = static_cast<int>(base.step().plan.ways.context) - 1;
            EXPECT_EQ(folded.reported_member, "context rank " + std::to_string(rank));
        }
    }
}

// Stages of a pipeline whose members differ; layers' inputs at the host, whose NIC and memory keep
// its shape; slices.
TEST(PlainPlacementStep, FoldsBesidePipelinesHostsAndSlices) {
    for (const int kind : {0, 1, 2}) {
        for (const bool ring : {false, true}) {
            SCOPED_TRACE(::testing::PrintToString(std::pair{kind, ring}));
            Scenario scenario = plain(
                make_scenario(
                    "v5p", {4, 4, 4}, samples::small_model(4),
                    kind == 0 ? samples::Mesh{{"pipeline", "x"}, {"fsdp", "y"}, {"context", "z"}}
                              : samples::Mesh{{"fsdp", "x y"}, {"context", "z"}},
                    64, 4096),
                ring);
            if (kind == 0) {
                scenario.step().plan.ways.pipeline = scenario.step().plan.batch.microbatches = 4;
            }
            if (kind == 1) {
                scenario.step().plan.remat.policy = workloads::RematPolicy::named;
                scenario.step().plan.remat.names.offload.add(workloads::LayerTensor::input);
            }
            if (kind == 2) {
                scenario.hardware.slices = 2;
                scenario.step().plan.ways.data = 2;
                scenario.step().mesh =
                    topology::DeviceMesh(scenario.hardware.slice,
                                         {{"data", {{topology::kSliceAxis, 1, 2}}},
                                          {"fsdp", {{0, 1, 4}, {1, 1, 4}}},
                                          {"context", {{2, 1, 4}}}},
                                         2);
            }
            const StepResult folded = samples::expect_folded_equals_unfolded(scenario);
            EXPECT_LT(folded.simulated_chips, scenario.hardware.chips());
        }
    }
}

/// Returns a step for which links, HBM and the vector unit cost nothing, and a FLOP takes
/// a picosecond.
Scenario compute_bound(int layers) {
    Scenario scenario = make_scenario("v5p", {4, 4, 4}, samples::small_model(layers),
                                      {{"fsdp", "x y"}, {"context", "z"}}, 16, 4096);
    samples::count_flops(scenario.hardware.chip);
    return scenario;
}

sim::Time attention_of(const workloads::StepProgram& program, const ChipRun& run) {
    sim::Time sum;
    for (std::size_t op = 0; op < program.ops.size(); ++op) {
        const auto* work = std::get_if<workloads::Compute>(&program.ops[op].work);
        sum += work != nullptr && work->attention ? run.ended[op] - run.began[op] : sim::Time{};
    }
    return sum;
}

// Rank r takes (2 r + 1) / n of the mean for attention, so the last one's (2 n - 1) / n sets the
// pace of every layer: with n = 4 the step is longer than with zig-zag by 3/4 of attention's time,
// exactly. The mean is 2 (64 + 64) x 8 heads x 4096^2 / 2 / 4 pairs of one sequence, once forward,
// once again and twice backward.
TEST(PlainPlacementStep, SlowestRankSetsThePaceExactly) {
    constexpr int kLayers = 3;
    const Scenario even = compute_bound(kLayers);
    const sim::Time mean{std::int64_t{2} * 128 * 8 * 4096 * 4096 / 8 * 4 * kLayers};
    const StepResult zig_zag = simulate_step(even, Fold::automatic);
    EXPECT_EQ(zig_zag.compute, zig_zag.step_time);
    for (const bool ring : {false, true}) {
        SCOPED_TRACE(ring);
        const Scenario scenario = plain(even, ring);
        const auto programs = workloads::build_stages(scenario.step().model, scenario.step().plan);
        const LoweredStep step = lower_step(programs, AchievedHardware(scenario.hardware),
                                            scenario.step().mesh, Fold::automatic);
        const StepRun run = run_step(step);
        for (std::size_t rank = 0; rank < 4; ++rank) {
            EXPECT_EQ(attention_of(programs.programs[rank], run.chips[rank]) * 4,
                      mean * static_cast<std::int64_t>(2 * rank + 1));
        }
        const StepResult result = simulate_step(scenario, Fold::automatic);
        EXPECT_EQ((result.step_time - zig_zag.step_time) * 4, mean * 3);
        EXPECT_EQ(result.compute, result.step_time);
        ASSERT_TRUE(result.imbalance);
        EXPECT_DOUBLE_EQ(result.imbalance->attention, 1.75);
        EXPECT_DOUBLE_EQ(result.imbalance->compute,
                         result.step_time.seconds() / zig_zag.step_time.seconds());
        EXPECT_EQ(result.imbalance->even_step, zig_zag.step_time);
        // The others wait for it, and for nothing else.
        const StreamAccount first =
            account_stream(programs.programs[0], run.chips[0], run.result.end);
        EXPECT_EQ((result.step_time - first.busy) * 4, mean * 6);
        ASSERT_EQ(first.waited_for.size(), 1U);
        EXPECT_EQ(first.waited_for[0].name, kImbalance);
        EXPECT_EQ(first.waited_for[0].time, first.waited);
    }
}

// A collective over context is one operation: no rank ends it before the last has begun it.
TEST(PlainPlacementStep, CollectivesWaitForTheLastRank) {
    const Scenario scenario = plain(make_scenario("v5p", {4, 4, 4}, samples::small_model(2),
                                                  {{"fsdp", "x y"}, {"context", "z"}}, 64, 4096),
                                    false);
    const auto programs = workloads::build_stages(scenario.step().model, scenario.step().plan);
    const LoweredStep step = lower_step(programs, AchievedHardware(scenario.hardware),
                                        scenario.step().mesh, Fold::automatic);
    const StepRun run = run_step(step);
    int collectives = 0;
    for (std::size_t op = 0; op < programs.programs[0].ops.size(); ++op) {
        const auto* work = std::get_if<workloads::Collective>(&programs.programs[0].ops[op].work);
        if (work == nullptr) {
            continue;
        }
        sim::Time last;
        for (const ChipRun& chip : run.chips) {
            last = std::max(last, chip.began[op]);
        }
        for (const ChipRun& chip : run.chips) {
            EXPECT_EQ(chip.sent[op], last);
            if (work->operation == collectives::Operation::all_gather) {
                EXPECT_GT(chip.ended[op], last);
            }
        }
        ++collectives;
    }
    EXPECT_GT(collectives, 10);
    EXPECT_EQ(step.workload.operations.size(), static_cast<std::size_t>(collectives));
}

constexpr const char* kLongContext =
    "hardware: {chip: v5p, slice: 4x4x4, profile: ideal}\nmodel: llama-3-8b\n"
    "batch: {tokens: 256Ki, sequence: 16384}\nmesh: {fsdp: x y, context: z}\n";

TEST_F(PlacementFile, ReportSaysWhatItCosts) {
    const std::string file = write(std::string(kLongContext) + "training: {placement: plain}\n");
    const Outcome run = podsim({"run", file, "--what-if"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out,
                ::testing::HasSubstr("  plain causal placement over context (4): the last rank has "
                                     "1.750 x the mean of attention; the fullest chip has "));
    EXPECT_THAT(run.out, ::testing::HasSubstr("times of a chip are of context rank 3\n"));
    EXPECT_THAT(run.out, ::testing::HasSubstr("causal attention on contiguous parts"));
    EXPECT_THAT(run.out, ::testing::HasSubstr("\n  equal work "));
    const Json json = Json::parse(podsim({"run", file, "--json", "-"}).out);
    EXPECT_EQ(json["imbalance"]["attention_over_mean"], 1.75);
    EXPECT_EQ(json["imbalance"]["reported_member"], "context rank 3");
    const std::string even = write(std::string(kLongContext));
    const Json zig_zag = Json::parse(podsim({"run", even, "--json", "-"}).out);
    EXPECT_EQ(json["imbalance"]["even_step_time_s"], zig_zag["step_time_s"]);
    EXPECT_FALSE(zig_zag.contains("imbalance"));
    EXPECT_THAT(podsim({"run", even}).out,
                ::testing::HasSubstr("causal attention on zig-zag parts"));
}

TEST_F(PlacementFile, SaysWhatIsWrong) {
    const auto error = [&](const std::string& text) {
        const Outcome outcome = podsim({"run", write(text)});
        EXPECT_EQ(outcome.status, 2);
        return outcome.err.substr(outcome.err.find(".yaml:") + 6);
    };
    EXPECT_EQ(
        error(std::string(kLongContext) + "training: {placement: zigzag}\n"),
        "5:23: unknown training.placement 'zigzag'; did you mean 'zig-zag'? allowed: zig-zag, "
        "plain\n");
    EXPECT_EQ(
        error("hardware: {chip: v5p, slice: 4x4x4}\nmodel: llama-3-8b\n"
              "batch: {tokens: 256Ki, sequence: 16384}\n"
              "mesh: {fsdp: x y, context: z%2 z/2}\n"
              "training: {placement: plain}\noverlap: {context: ring}\n"),
        "6:20: overlap.context: the ranks of context do not follow each other along its axis, "
        "which ring attention with plain placement needs; write its outer factor first, as in "
        "x/2 x%2\n");
}

}  // namespace
}  // namespace podsim::scenarios
