// Pipelines fold along every other axis, for every schedule and mix, to the picosecond.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/simulate/pipeline_support.h"

namespace podsim::scenarios {
namespace {

using samples::expect_same_spans;
using samples::kPipelineLayers;
using samples::latent_experts;
using samples::pipeline_on;
using samples::sum;
using workloads::PipelineSchedule;

// With a stride, or with rows divided over tensor, a message crosses as many links as lie between
// the stages.
TEST(PipelineFold, FoldedEqualsUnfoldedToThePicosecond) {
    struct Case {
        std::vector<std::pair<std::string, std::string>> mesh;
        PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
        int chunks = 1;
        bool tied = false;
        bool experts = false;
        std::vector<double> loads{};
    };
    const std::vector<Case> cases{
        {{{"pipeline", "z"}, {"fsdp", "x"}, {"tensor", "y"}}, PipelineSchedule::gpipe},
        {{{"pipeline", "z"}, {"fsdp", "x"}, {"tensor", "y"}},
         PipelineSchedule::one_f_one_b,
         1,
         true},
        {{{"pipeline", "z"}, {"fsdp", "x"}, {"tensor", "y"}}, PipelineSchedule::interleaved, 2},
        {{{"pipeline", "z"}, {"fsdp", "x"}, {"tensor", "y"}}, PipelineSchedule::zero_bubble},
        {{{"pipeline", "z/2"}, {"fsdp", "x z%2"}, {"tensor", "y"}},
         PipelineSchedule::interleaved,
         4},
        {{{"pipeline", "z%2"}, {"data", "z/2"}, {"tensor", "x"}, {"context", "y"}}},
        {{{"pipeline", "x%2 y/2"}, {"fsdp", "x/2 y%2"}, {"tensor", "z"}},
         PipelineSchedule::zero_bubble,
         1,
         true},
        {{{"pipeline", "z"}, {"expert", "x"}, {"tensor", "y"}},
         PipelineSchedule::zero_bubble,
         1,
         false,
         true},
        {{{"pipeline", "z%2"}, {"fsdp", "z/2"}, {"expert", "x"}, {"context", "y"}},
         PipelineSchedule::zero_bubble,
         1,
         true,
         true,
         {2, 1, 0.5, 0.5}}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(i);
        Scenario scenario =
            pipeline_on({4, 4, 4}, cases[i].mesh, 64, cases[i].schedule, 4, cases[i].chunks);
        if (cases[i].experts) {
            scenario.step().model = latent_experts(kPipelineLayers);
        }
        scenario.step().model.tied_embeddings = cases[i].tied;
        scenario.step().plan.experts.loads = cases[i].loads;
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_LT(folded.simulated_chips, 64);
        EXPECT_EQ(folded.step_time, whole.step_time);
        EXPECT_EQ(whole.events * static_cast<std::uint64_t>(folded.simulated_chips),
                  folded.events * static_cast<std::uint64_t>(whole.simulated_chips));
        EXPECT_EQ(folded.memory.peak, whole.memory.peak);
        EXPECT_EQ(folded.memory.stage, whole.memory.stage);
        expect_same_spans(folded, whole);
        EXPECT_EQ(folded.compute + folded.exposed_total, folded.step_time);
        EXPECT_EQ(sum(folded.critical_path), folded.step_time);
        EXPECT_EQ(sum(folded.gap).ps, folded.step_time.ps - sim::round_down(folded.lower.time).ps);
    }
}

/// Stages of slices: rows use PCIe and the hosts' links.
TEST(PipelineFold, StagesOfSlicesFoldAsTheyShould) {
    for (const auto& [slices, mesh] :
         {std::pair{2,
                    std::vector<topology::LogicalAxis>{{"pipeline", {{topology::kSliceAxis, 1, 2}}},
                                                       {"fsdp", {{0, 1, 4}, {1, 1, 4}}},
                                                       {"tensor", {{2, 1, 4}}}}},
          std::pair{4,
                    std::vector<topology::LogicalAxis>{{"pipeline", {{topology::kSliceAxis, 2, 2}}},
                                                       {"data", {{topology::kSliceAxis, 1, 2}}},
                                                       {"fsdp", {{0, 1, 4}, {1, 1, 4}}},
                                                       {"tensor", {{2, 1, 4}}}}}}) {
        Scenario scenario = pipeline_on({4, 4, 4}, {{"fsdp", "x y"}, {"tensor", "z"}}, 128,
                                        PipelineSchedule::one_f_one_b, 4);
        scenario.hardware.slices = slices;
        scenario.step().mesh = topology::DeviceMesh(scenario.hardware.slice, mesh, slices);
        scenario.step().plan.ways.pipeline = 2;
        scenario.step().plan.ways.data = slices / 2;
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_EQ(folded.step_time, whole.step_time);
        EXPECT_EQ(folded.memory.peak, whole.memory.peak);
        EXPECT_LT(folded.simulated_chips, whole.simulated_chips);
        EXPECT_LE(folded.lower.time.value(), folded.step_time.seconds());
        // r D x 2 B over a chip's PCIe link in each direction for each of 4 microbatches: 2
        // sequences of 512 over tensor of 4.
        for (const LinkUse& use : folded.links) {
            if (use.name == "pcie" && slices == 2) {
                EXPECT_DOUBLE_EQ(use.bytes.value(), 4 * (2.0 * 512 / 4 * 512 * 2));
            }
        }
    }
}

}  // namespace
}  // namespace podsim::scenarios
