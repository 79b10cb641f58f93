// Steps with unequal experts: ranks of the expert axis with unequal numbers of tokens.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/algorithms/ring_step_schedule.h"
#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_experts;
using UnequalExpertsFile = CommandTest;

Scenario unequal(const samples::Mesh& mesh, topology::Point shape = {4, 4, 4},
                 const char* chip = "v5p") {
    Scenario scenario = make_scenario(chip, shape, small_experts(3), mesh, 64, 256);
    const int ranks = scenario.step().plan.ways.expert;
    for (int rank = 0; rank < ranks; ++rank) {
        scenario.step().plan.experts.loads.push_back(2.0 * (ranks - rank) / (ranks + 1));
    }
    return scenario;
}

// The expert axis is not folded, whole or in factors, on rings and lines. Nor is it beside tensor,
// whose gathers differ from rank to rank, or beside plain causal placement, whose axis is not
// folded either.
TEST(UnequalExpertsStep, FoldedEqualsUnfoldedToThePicosecond) {
    struct Case {
        samples::Mesh mesh;
        int chips = 0;
        bool plain = false;
        topology::Point shape{4, 4, 4};
        const char* chip = "v5p";
    };
    const std::vector<Case> cases{{{{"fsdp", "x y"}, {"expert", "z"}}, 4},
                                  {{{"fsdp", "x"}, {"expert", "y z"}}, 16},
                                  {{{"fsdp", "x z/2 y"}, {"expert", "z%2"}}, 2},
                                  {{{"data", "x"}, {"fsdp", "y%2"}, {"expert", "y/2 z"}}, 16},
                                  {{{"fsdp", "x"}, {"tensor", "y"}, {"expert", "z"}}, 4},
                                  {{{"context", "x"}, {"tensor", "y"}, {"expert", "z"}}, 16, true},
                                  {{{"fsdp", "x"}, {"expert", "y"}}, 8, false, {4, 4, 1}, "v5e"}};
    for (const Case& one : cases) {
        SCOPED_TRACE(::testing::PrintToString(one.mesh));
        Scenario scenario = unequal(one.mesh, one.shape, one.chip);
        if (one.plain) {
            scenario.step().plan.attention.placement = workloads::Placement::plain;
        }
        const StepResult folded = samples::expect_folded_equals_unfolded(scenario);
        EXPECT_EQ(folded.simulated_chips, one.chips);
        EXPECT_THAT(folded.reported_member, ::testing::EndsWith("expert rank 0"));
        // Ranks that wait hold gathered weights for longer: the highest peak need not be the
        // fullest rank's.
        EXPECT_THAT(folded.memory.member, ::testing::HasSubstr("expert rank "));
        ASSERT_TRUE(folded.imbalance);
        EXPECT_DOUBLE_EQ(folded.imbalance->experts, scenario.step().plan.experts.loads[0]);
        EXPECT_LT(folded.imbalance->even_step, folded.step_time);
    }
}

// A chip waits until the last member of its group begins, which is simulated or a mirror image.
// Strided factors of both axes are folded by mirror images.
TEST(UnequalExpertsStep, WaitsAreTheSameFoldedAndNot) {
    const samples::Mesh mesh{{"data", "x%2 y%2"}, {"fsdp", "x/2"}, {"expert", "y/2"}};
    const Scenario scenario = unequal(mesh, {4, 4, 1}, "v6e");
    const StepResult folded = simulate_step(scenario, Fold::automatic);
    const StepResult unfolded = simulate_step(scenario, Fold::off);
    EXPECT_LT(folded.simulated_chips, unfolded.simulated_chips);
    ASSERT_EQ(folded.exposed.size(), unfolded.exposed.size());
    bool imbalance = false;
    for (std::size_t i = 0; i < folded.exposed.size(); ++i) {
        EXPECT_EQ(folded.exposed[i].name, unfolded.exposed[i].name);
        EXPECT_EQ(folded.exposed[i].time, unfolded.exposed[i].time) << folded.exposed[i].name;
        imbalance = imbalance || folded.exposed[i].name == "imbalance";
    }
    EXPECT_TRUE(imbalance);
}

// A rank that takes nothing has no matmuls, no transfers to it and no rows to gather over tensor.
// This holds for blocking and overlapped forms, and for kept, offloaded and recomputed activations.
TEST(UnequalExpertsStep, RanksMayTakeNothing) {
    using workloads::LayerTensor;
    for (const std::vector<double>& loads :
         {std::vector<double>{0, 2, 2, 0}, {4, 0, 0, 0}, {0, 1, 0, 3}}) {
        for (const bool tensor : {false, true}) {
            for (const workloads::RematPolicy remat :
                 {workloads::RematPolicy::none, workloads::RematPolicy::matmuls,
                  workloads::RematPolicy::block, workloads::RematPolicy::named}) {
                SCOPED_TRACE(::testing::PrintToString(loads) + (tensor ? " tensor " : " fsdp ") +
                             std::to_string(static_cast<int>(remat)));
                Scenario scenario =
                    unequal({{"fsdp", "x"}, {tensor ? "tensor" : "data", "y"}, {"expert", "z"}});
                scenario.step().plan.experts.loads = loads;
                scenario.step().plan.remat.policy = remat;
                scenario.step().plan.remat.names.offload = {LayerTensor::gate_up,
                                                            LayerTensor::hidden};
                if (tensor && remat != workloads::RematPolicy::none) {
                    scenario.step().plan.overlap.tensor_steps = collectives::step_gather(
                        scenario.hardware.slice, scenario.step().mesh.group({"tensor"}), true);
                }
                const StepResult result = samples::expect_folded_equals_unfolded(scenario);
                EXPECT_DOUBLE_EQ(result.imbalance->experts, std::ranges::max(loads));
            }
        }
    }
}

// Postponed weight gradients of experts have no matmuls either.
TEST(UnequalExpertsStep, RanksOfAPipelineMayTakeNothing) {
    for (const workloads::PipelineSchedule schedule :
         {workloads::PipelineSchedule::one_f_one_b, workloads::PipelineSchedule::zero_bubble}) {
        Scenario scenario = unequal({{"pipeline", "x"}, {"fsdp", "y"}, {"expert", "z"}});
        scenario.step().model.layers = 4;
        scenario.step().plan.experts.loads = {0, 3, 1, 0};
        scenario.step().plan.ways.pipeline = scenario.step().plan.batch.microbatches = 4;
        scenario.step().plan.pipeline.schedule = schedule;
        workloads::validate(scenario.step().plan, scenario.step().model);
        EXPECT_LT(samples::expect_folded_equals_unfolded(scenario).simulated_chips, 64);
    }
}

// Links, HBM and the vector unit are free, and a FLOP takes a picosecond. The step is longer than
// with equal experts by (load - 1) times the experts' matmuls of two layers. These are 3 matmuls of
// 2 x rows x 512 x 512 FLOPs, once forward, twice backward, and all three once more. 64 x 256
// tokens on 64 chips make 512 rows a chip.
void expect_pace(const std::vector<double>& loads) {
    Scenario scenario = unequal({{"fsdp", "x y"}, {"expert", "z"}});
    scenario.step().plan.experts.loads = loads;
    samples::count_flops(scenario.hardware.chip);
    const StepResult result = simulate_step(scenario, Fold::automatic);
    scenario.step().plan.experts.loads.clear();
    const StepResult even = simulate_step(scenario, Fold::automatic);
    EXPECT_EQ((result.step_time - even.step_time).ps,
              (static_cast<std::int64_t>(loads[0]) - 1) * 2 * 4 * 3 * 2 * 512 * 512 * 512);
    EXPECT_EQ(result.imbalance->even_step, even.step_time);
    EXPECT_FALSE(even.imbalance);
    EXPECT_EQ(result.compute, result.step_time);
}

TEST(UnequalExpertsStep, FullestRankSetsThePaceExactly) {
    expect_pace({2, 1, 0.5, 0.5});
    expect_pace({4, 0, 0, 0});
}

constexpr const char* kMixtral =
    "hardware: {chip: v5p, slice: 4x4x4}\nmodel: mixtral-8x7b\n"
    "batch: {tokens: 1Mi, sequence: 4096}\nmesh: {fsdp: x y, expert: z}\ntraining: ";

TEST_F(UnequalExpertsFile, ReportSaysWhatTheyCost) {
    const std::string file = write(std::string(kMixtral) + "{expert_imbalance: [4, 2, 1, 1]}\n");
    const Outcome run = podsim({"run", file, "--show", "memory"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, ::testing::HasSubstr("  unequal experts over expert (4): the fullest rank "
                                              "has 2.000 x the mean of tokens; the fullest chip "));
    EXPECT_THAT(run.out, ::testing::HasSubstr("Memory of a chip of expert rank 0 at its peak"));
    const Json json = Json::parse(podsim({"run", file, "--json", "-"}).out);
    EXPECT_EQ(json["imbalance"]["expert_tokens_over_mean"], 2);
    const Json even =
        Json::parse(podsim({"run", write(std::string(kMixtral) + "{}\n"), "--json", "-"}).out);
    EXPECT_EQ(json["imbalance"]["even_step_time_s"], even["step_time_s"]);
    const Json same = Json::parse(
        podsim({"run", write(std::string(kMixtral) + "{expert_imbalance: [3, 3, 3, 3]}\n"),
                "--json", "-"})
            .out);
    EXPECT_EQ(same["step_time_s"], even["step_time_s"]);
}

// Only proportions count, even if the sum of the list exceeds the range of a double.
TEST_F(UnequalExpertsFile, SharesMayBeHuge) {
    const auto loads = [&](const std::string& list) {
        return load_scenario(write(std::string(kMixtral) + "{expert_imbalance: " + list + "}\n"))
            .step()
            .plan.experts.loads;
    };
    using ::testing::ElementsAre;
    EXPECT_THAT(loads("[1e308, 1e308, 1e308, 1e308]"), ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(loads("[1.6e308, 0.8e308, 0.4e308, 0.4e308]"), ElementsAre(2, 1, 0.5, 0.5));
    EXPECT_THAT(loads("[1e-308, 0, 0, 1e-308]"), ElementsAre(2, 0, 0, 2));
    EXPECT_THAT(loads("[1e308, 1, 1e308, 0]"), ElementsAre(2, 2e-308, 2, 0));
}

TEST_F(UnequalExpertsFile, SaysWhatIsWrong) {
    const auto error = [&](const std::string& training) {
        const Outcome outcome = podsim({"run", write(kMixtral + training + "\n")});
        EXPECT_EQ(outcome.status, 2);
        return outcome.err.substr(outcome.err.find(".yaml:") + 6);
    };
    EXPECT_EQ(error("{expert_imbalance: [2, 1]}"),
              "5:30: expert_imbalance has 2 shares, but expert = 4; write one for each rank of the "
              "axis expert\n");
    EXPECT_EQ(error("{expert_imbalance: [2, 1, -1, 1]}"),
              "5:37: training.expert_imbalance: '-1' is negative; write a number such as "
              "13.9 or 70.4G; units: k, M, G, T, Ki, Mi, Gi, Ti\n");
    const auto slices = [](const std::string& training) {
        return "hardware: {chip: v5p, slice: 4x4x4, slices: 4}\nmodel: mixtral-8x7b\n"
               "batch: {tokens: 1Mi, sequence: 4096}\nmesh: {fsdp: x y z, expert: slice}\n"
               "training: {expert_imbalance: " +
               training + "}\n";
    };
    EXPECT_EQ(podsim({"run", write(slices("1.5"))}).status, 0);
    expect_refused(slices("[4, 2, 1, 1]"),
                   "s.yaml:5:30: training.expert_imbalance: the axis expert has members in several "
                   "slices, between which unequal shares cannot be exchanged; write one number, or "
                   "keep expert within a slice");
    EXPECT_EQ(error("{expert_imbalance: [0, 0, 0, 0]}"),
              "5:30: training.expert_imbalance: no rank takes any tokens; write a share for each "
              "rank of the axis expert, as in [4, 2, 1, 1]\n");
}

}  // namespace
}  // namespace podsim::scenarios
