// Stages of a pipeline skip repeated layers independently, and nothing else changes.
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/critical_path.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/run_record.h"
#include "scenarios/src/simulate/run_step.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::Mesh;
using samples::small_model;
using workloads::PipelineSchedule;

template <class T>
T one_of(std::mt19937_64& random, const std::vector<T>& choices) {
    return choices[random() % choices.size()];
}

/// Returns a pipeline of any schedule, with odd or even numbers of microbatches and stages of 7 to
/// 18 layers, over an ICI axis, half of one (whose links the stages share) or slices.
Scenario random_pipeline(std::mt19937_64& random) {
    const Mesh mesh = one_of<Mesh>(random, {{{"pipeline", "z"}, {"fsdp", "x y"}},
                                            {{"pipeline", "z"}, {"fsdp", "x"}, {"tensor", "y"}},
                                            {{"pipeline", "x/2"}, {"fsdp", "x%2 y z"}},
                                            {{"pipeline", "z"}, {"fsdp", "x"}, {"expert", "y"}},
                                            {{"fsdp", "x z"}, {"tensor", "y"}}});
    const bool slices = mesh.front().first == "fsdp";
    Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_model(1), mesh, 1, 512);
    if (slices) {
        scenario.hardware.slices = 2;
        std::vector<topology::LogicalAxis> axes{
            {"pipeline", {{.axis = topology::kSliceAxis, .stride = 1, .length = 2}}}};
        for (const auto& [name, factors] : mesh) {
            axes.push_back({name, topology::parse_factors(factors, scenario.hardware.slice)});
        }
        scenario.step().mesh = topology::DeviceMesh(scenario.hardware.slice, axes, 2);
    }
    workloads::TrainingPlan& plan = scenario.step().plan;
    plan.ways.pipeline = scenario.step().mesh.size("pipeline");
    plan.pipeline.schedule = one_of<PipelineSchedule>(
        random, {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b,
                 PipelineSchedule::interleaved, PipelineSchedule::zero_bubble});
    const bool interleaved = plan.pipeline.schedule == PipelineSchedule::interleaved;
    plan.pipeline.chunks = interleaved ? 2 : 1;
    plan.batch.microbatches = interleaved ? plan.ways.pipeline * one_of<int>(random, {1, 2})
                                          : one_of<int>(random, {1, 2, 3, 5});
    plan.batch.tokens = 512 * plan.ways.fsdp * plan.ways.expert * plan.batch.microbatches;
    if (plan.ways.expert > 1) {
        scenario.step().model.kv_heads = scenario.step().model.heads;
        scenario.step().model.latent = {
            .q_rank = 128, .kv_rank = 96, .rope_dim = 32, .value_dim = 64};
        scenario.step().model.experts = {.count = 8, .per_token = 2, .shared = 1, .d_ff = 256};
    }
    plan.overlap.prefetch_layers = one_of<int>(random, {0, 1, 2});
    scenario.step().model.layers =
        plan.ways.pipeline * plan.pipeline.chunks * (7 + static_cast<int>(random() % 12));
    scenario.step().model.tied_embeddings = random() % 2 == 0;
    if (random() % 2 == 0) {
        scenario.hardware.chip.ici_latency.value = sim::Seconds(2e-5);  // a backlog that grows
    }
    if (random() % 3 == 0) {
        scenario.hardware.chip.collective_launch.value = sim::Seconds(3e-6);
    }
    plan.overlap.weights = one_of<workloads::WeightGroups>(
        random, {workloads::WeightGroups::layer, workloads::WeightGroups::block,
                 workloads::WeightGroups::matmul});
    plan.overlap.layer_loop = random() % 3 == 0;
    plan.reduction = static_cast<workloads::GradientReduction>(random() % 3);
    return scenario;
}

struct Watched {
    Watched(const LoweredStep& step, bool reuse)
        : run(run_step(step, {.reuse = reuse})), record(step.workload) {
        EXPECT_EQ(sim::execute(step.workload, &record, reuse), run.result);
    }
    StepRun run;
    RunRecord record;
};

TEST(PipelineReuse, EqualsTheFullRunToThePicosecond) {
    int skipped = 0;
    for (std::uint64_t seed = 0; seed < 48; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = random_pipeline(random);
        scenario.hardware.hbm = seed % 3 == 0 ? HbmRule::shared : HbmRule::separate;
        const auto stages = workloads::build_stages(scenario.step().model, scenario.step().plan);
        LoweredStep step = lower_step(stages, AchievedHardware(scenario.hardware),
                                      scenario.step().mesh, Fold::automatic);
        step.workload.machine.isolated_operations = seed % 4 == 3;
        const Watched with(step, true);
        const Watched without(step, false);
        EXPECT_EQ(with.run.result.end, without.run.result.end);
        EXPECT_EQ(with.run.result.end_of_place, without.run.result.end_of_place);
        EXPECT_EQ(with.run.result.events, without.run.result.events);
        EXPECT_EQ(with.run.result.links, without.run.result.links);
        for (std::size_t place = 0; place < step.workload.machine.places; ++place) {
            const auto& graph = step.workload.graphs[step.workload.graph_of_place[place]];
            for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
                ASSERT_EQ(with.record.began(place, task), without.record.began(place, task));
                ASSERT_EQ(with.record.ended(place, task), without.record.ended(place, task));
            }
        }
        for (std::size_t link = 0; link < without.run.result.links.size(); ++link) {
            const std::vector<Interval> held = without.record.held(link);
            EXPECT_EQ(with.record.held(link), held);
            sim::Time busy;
            for (const Interval& interval : held) {
                busy += interval.until - interval.from;
            }
            if (!step.workload.machine.isolated_operations) {
                EXPECT_EQ(busy, without.run.result.links[link].busy);
            }
        }
        for (std::size_t stage = 0; stage < stages.programs.size(); ++stage) {
            EXPECT_EQ(with.run.chips[stage].ended, without.run.chips[stage].ended);
            EXPECT_EQ(with.run.chips[stage].sent, without.run.chips[stage].sent);
        }
        if (!step.workload.machine.isolated_operations) {
            const auto path = [&](const Watched& watched) {
                std::vector<std::pair<std::string, sim::Time>> shares;
                for (const Share& share : critical_path(
                         stages, step, achieved_rates(AchievedHardware(scenario.hardware)),
                         watched.record, watched.run.result.end)) {
                    shares.emplace_back(share.name, share.time);
                }
                return shares;
            };
            EXPECT_EQ(path(with), path(without));
        }
        const bool half_played =
            2 * with.run.result.played_events < without.run.result.played_events;
        skipped += half_played ? 1 : 0;
    }
    EXPECT_GT(skipped, 12) << "the test should exercise reuse";
}

}  // namespace
}  // namespace podsim::scenarios
