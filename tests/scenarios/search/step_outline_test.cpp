// search_bound never exceeds a simulated step, and least_peak never exceeds its peak of memory.
#include "scenarios/src/search/step_outline.h"

#include <gtest/gtest.h>
#include <random>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/sure_memory.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

/// Returns bound over simulated step.
double expect_below(const Scenario& scenario) {
    StepOutline outline(scenario);
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    EXPECT_LE(outline.least_peak(), result.memory.peak) << scenario.name;
    // A tight step, which may fit, also has a bound.
    if (outline.least_peak() > result.memory.capacity * (1 + kMemoryBelief)) {
        return 0;
    }
    const sim::Time bound = outline.bound(scenario.step().mesh);
    EXPECT_LE(bound, result.step_time) << scenario.name;
    return bound.seconds() / result.step_time.seconds();
}

// Few layers, so that whole programs are built, and many, so that short ones stand for them.
TEST(StepOutline, IsBelowRandomSteps) {
    std::mt19937_64 random(20261123);
    for (int i = 0; i < 120; ++i) {
        SCOPED_TRACE(i);
        Scenario scenario = samples::random_scenario(random);
        scenario.step().model.layers *= i % 3 == 0 ? 12 : 1;
        expect_below(scenario);
    }
}

Scenario example(const char* name, const std::vector<std::string>& settings) {
    return load_scenario(source_folder() + "/scenarios/" + name, settings);
}

// Lines, whose ends have one neighbour (x%4); rings; strided groups; experts; ring steps; a list
// scheduler; perturbed chips and links; stages of a pipeline; members of unequal work; a step of
// inference. The test measures how near the bound is, and holds it.
TEST(StepOutline, IsBelowAndNearStepsOfAllKinds) {
    const char* const quick = "quickstart/llama3-70b-v5p-pod.yaml";
    const char* const decode = "examples/llama3-70b-decode-v5e.yaml";
    const std::vector<std::string> small{"hardware.slice=8x8x8", "batch.tokens=2Mi"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), small.begin(), small.end());
        return more;
    };
    const std::vector<std::tuple<const char*, std::vector<std::string>, double>> steps{
        {quick, {}, 0.95},
        {quick, with({"mesh={fsdp: x/4 y z, tensor: x%4}"}), 0.85},
        {quick, with({"mesh={fsdp: x y/4 z/2, context: y%4, tensor: z%2}"}), 0.9},
        {quick, with({"mesh={fsdp: x/2 y z, tensor: x%2}", "overlap.tensor=two-way"}), 0.9},
        {quick, with({"mesh={fsdp: x y, tensor: z}", "overlap.tensor=one-way"}), 0.9},
        {quick, with({"mesh={fsdp: x y, tensor: z}", "overlap.schedule=latency_hiding"}), 0.7},
        {quick,
         with({"mesh={fsdp: x y, tensor: z}",
               "perturb=[{kind: slow_link, x: 1, y: 1, z: 1, link: x, rate: 50 %}]"}),
         0.4},
        {quick,
         with({"mesh={fsdp: x y, tensor: z}", "perturb=[{kind: slow_chips, x: 1, factor: 1.2}]"}),
         0.4},
        {quick, with({"mesh={fsdp: x y, pipeline: z%2, tensor: z/2}", "training.microbatches=4"}),
         0.6},
        {quick, with({"mesh={fsdp: x y, context: z}", "training.placement=plain"}), 0.6},
        // Other groups lie between the members of a strided one, in other stages, and use its links
        // at other times.
        {quick,
         with({"model={base: deepseek-v3, layers: 8}",
               "mesh={fsdp: x/2 y/2, expert: x%2 y%2, pipeline: z%2, tensor: z/2}",
               "training.microbatches=2"}),
         0.5},
        // Groups may alternate on a link that all their bytes have to cross.
        {quick,
         {"mesh={fsdp: x/4%2 y z%7 z/14, context: x%2 x/8 z/7%2, tensor: x/2%2}",
          "model={base: llama-3-70b, layers: 8}"},
         0.9},
        // A host's other chips also use its links between slices.
        {quick,
         {"hardware.slice=2x2x1", "hardware.slices=2", "batch.tokens=64Ki",
          "model={base: mixtral-8x7b, layers: 2}", "mesh={context: x y, tensor: slice}"},
         0.5},
        {"examples/deepseek-v3-v5p.yaml", {}, 0.95},
        {"examples/mixtral-8x7b-v5p.yaml", {}, 0.95},
        {"examples/llama2-13b-v5e-pod.yaml", {}, 0.8},
        {decode, {}, 0.8},
    };
    for (const auto& [file, settings, near] : steps) {
        SCOPED_TRACE(std::string(file) + (settings.empty() ? "" : " " + settings.back()));
        EXPECT_GE(expect_below(example(file, settings)), near);
    }
}

// Collective matmuls on rings and lines of one factor and of several, between neighbours and across
// other groups: bounds from the plan with blocking collectives are below their simulated step, and
// often near.
TEST(StepOutline, OfBlockingCollectivesIsBelowCollectiveMatmuls) {
    double nearest = 0;
    for (const char* const mesh :
         {"{fsdp: x y, tensor: z}", "{fsdp: x, tensor: y z}", "{fsdp: x/2 y z, tensor: x%2}",
          "{fsdp: x%2 y z, tensor: x/2}", "{fsdp: x y%2, context: y/2, tensor: z}",
          "{fsdp: x%4 y, tensor: x/4 z}", "{fsdp: y, context: z, tensor: x}",
          "{context: x%4, tensor: x/4 y z}"}) {
        for (const char* const slice : {"8x4x4", "8x8x4"}) {
            for (const char* const overlap : {"one-way", "two-way"}) {
                SCOPED_TRACE(std::string(mesh) + " " + slice + " " + overlap);
                const std::vector<std::string> settings{
                    std::string("hardware.slice=") + slice, "batch.tokens=512Ki",
                    "model={base: llama-3-70b, layers: 12}", "training.remat=minimal",
                    std::string("mesh=") + mesh};
                const auto with = [&](const std::string& tensor) {
                    std::vector<std::string> all = settings;
                    all.push_back("overlap.tensor=" + tensor);
                    return example("quickstart/llama3-70b-v5p-pod.yaml", all);
                };
                const Scenario blocking = with("blocking");
                StepOutline rough(blocking, TensorCollectives::in_steps);
                const sim::Time bound = rough.bound(blocking.step().mesh);
                const sim::Time step =
                    simulate_step(with(overlap), Fold::automatic, {.explain = false}).step_time;
                EXPECT_LE(bound, step);
                nearest = std::max(nearest, bound.seconds() / step.seconds());
            }
        }
    }
    EXPECT_GE(nearest, 0.9);
}

// Groups of tensor with others between their members; some of these are not images of theirs. The
// bound must allow that these do something else at that time, though they do not.
TEST(StepOutline, KnowsAboutWhatStridedGroupsTake) {
    const Scenario scenario =
        example("quickstart/llama3-70b-v5p-pod.yaml",
                {"hardware.slice=8x8x8", "batch.tokens=2Mi",
                 "mesh={fsdp: x%2 x/4 y%2 y/4 z%2 z/4, tensor: x/2%2 y/2%2 z/2%2}"});
    StepOutline outline(scenario);
    const double step =
        simulate_step(scenario, Fold::automatic, {.explain = false}).step_time.seconds();
    EXPECT_LT(outline.bound(scenario.step().mesh).seconds(), 0.85 * step);
    EXPECT_NEAR(outline.estimate(scenario.step().mesh).likely.seconds(), step, 0.02 * step);
}

// Rings of steps of unequal lengths make programs of their own: the outline is that of the mesh it
// was made for.
TEST(StepOutline, IsShortWhereLayersRepeat) {
    EXPECT_TRUE(StepOutline(example("quickstart/llama3-70b-v5p-pod.yaml", {})).is_short());
    EXPECT_TRUE(StepOutline(example("examples/deepseek-v3-v5p.yaml", {})).is_short());
    EXPECT_FALSE(
        StepOutline(example("quickstart/llama3-70b-v5p-pod.yaml", {"model.layers=10"})).is_short());
}

// Quantities that grow evenly with the layers follow from two short programs. The peak in program
// order is that of the whole program, except for rounding up to bytes once for all layers.
TEST(ShortStep, HasThePeakOfTheWholeProgram) {
    for (const char* const model : {"llama-3-70b", "mixtral-8x7b", "gemma-3-27b", "deepseek-v3"}) {
        for (const char* const remat : {"full", "none", "save_qkv_proj"}) {
            SCOPED_TRACE(std::string(model) + " " + remat);
            Scenario scenario =
                example("quickstart/llama3-70b-v5p-pod.yaml",
                        {"hardware.slice=8x8x8", "batch.tokens=2Mi", "mesh={fsdp: x y z}",
                         std::string("model=") + model, std::string("training.remat=") + remat});
            const TrainingStep& step = scenario.step();
            const std::optional<ShortStep> cut = short_step(step.model, step.plan);
            ASSERT_TRUE(cut.has_value());
            const std::vector<double> held = held_in_order(cut->program);
            const std::vector<double> longer = held_in_order(cut->longer);
            double peak = 0;
            for (std::size_t i = 0; i < held.size(); ++i) {
                for (const auto twin : {cut->twins[i].from_start, cut->twins[i].from_end}) {
                    if (twin != workloads::kWholeStep) {
                        peak = std::max(peak, held[i] + static_cast<double>(cut->copies) *
                                                            (longer[twin] - held[i]));
                    }
                }
            }
            EXPECT_NEAR(peak, workloads::peak_of_stages(step.model, step.plan).value(),
                        16.0 * static_cast<double>(cut->copies + 1));
        }
    }
}

// A line of four, AllGather (its ends have all after 12, those within it after 6), ReduceScatter,
// AllGather, each as soon as a chip can. By the four rules: (first, last) = (0, 0) -> (max(0 + 6,
// 0), max(0 + 12, 0)) = (6, 12)
//   -> (max(6 + 4, 12), max(6 + 12, 12 + 12)) = (12, 24)
//   -> (max(12 + 6, 24), max(12 + 12, 24)) = (24, 24).
// Bounds that were added up would be 36.
TEST(TimeFront, FollowsLinesWhoseChipsAreNotAlike) {
    const LeastTime gather{{12}, {6}, {0}, 0};
    const LeastTime scatter{{12}, {4}, {12}, 0};
    TimeFront front;
    front = front.behind(gather, 2);
    EXPECT_EQ(front.ps[0], 6);
    EXPECT_EQ(front.ps[1], 12);
    front = front.behind(scatter, 2);
    EXPECT_EQ(front.ps[0], 12);
    EXPECT_EQ(front.ps[1], 24);
    front = front.behind(gather, 2);
    EXPECT_EQ(front.ps[0], 24);
    EXPECT_EQ(front.latest(2), 24);
}

}  // namespace
}  // namespace podsim::scenarios
