// Sequences are not split: a step takes the time of the fullest batch shard, and memory is that of
// the fullest chip.
#include "workloads/work/placed_runs.h"

#include <gtest/gtest.h>

#include "tests/scenarios/simulate/inference_support.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::inference;
using samples::small_model;
using workloads::CachedRun;
using workloads::CacheSplit;

sim::Time step_of(const samples::Mesh& mesh, std::vector<CachedRun> runs) {
    Scenario scenario = inference("v5e", {2, 2, 1}, small_model(3), mesh, std::move(runs));
    return simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
}

// With four batch shards a decode goes to another shard than the prompt, and each of two prompts
// has a shard of its own.
TEST(PlacedRuns, APromptLiesOnOneWay) {
    const samples::Mesh four{{"data", "x y"}};
    const CachedRun prompt{1, 512, 0, 1};
    const sim::Time alone = step_of(four, {prompt});
    EXPECT_EQ(step_of(four, {prompt, {1, 1, 512, 1}}), alone);
    EXPECT_EQ(step_of(four, {prompt, {1, 500, 0, 1}}), alone);
    EXPECT_EQ(step_of(four, {{3, 1, 512, 1}, prompt}), alone);
    // The fourth decode shares a shard with the prompt: as on one chip. (There is one each.)
    EXPECT_GT(step_of(four, {{4, 1, 512, 1}, prompt}), alone);
    EXPECT_EQ(step_of(four, {{4, 1, 512, 1}, {4, 64, 0, 1}}),
              step_of(four, {{3, 1, 512, 1}, {4, 64, 0, 1}, {1, 1, 512, 1}}));
    // All shards are alike.
    EXPECT_EQ(step_of(four, {{8, 1, 512, 1}}), step_of(four, {{5, 1, 512, 1}}));
}

double cache_of(const samples::Mesh& mesh, const std::vector<CachedRun>& runs, CacheSplit split) {
    const Scenario scenario = inference("v5e", {2, 2, 1}, small_model(3), mesh, runs, split);
    return workloads::peak_in_program_order(
               workloads::build_step(scenario.step().model, scenario.step().plan))
        .of(workloads::MemoryClass::kv_cache)
        .value();
}

// Caches of a byte an element. Members that hold different sequences hold whole ones; those that
// split tokens hold a quarter of each.
TEST(PlacedRuns, ACacheIsKeptWhole) {
    const auto layers =
        static_cast<double>(3 * 2 * small_model(3).kv_heads * small_model(3).head_dim);
    const samples::Mesh cache{{"cache", "x y"}};
    EXPECT_EQ(cache_of(cache, {{1, 1, 99, 1}}, CacheSplit::batch), 100 * layers);
    EXPECT_EQ(cache_of(cache, {{5, 1, 99, 1}}, CacheSplit::batch), 2 * 100 * layers);
    EXPECT_EQ(cache_of(cache, {{1, 1, 99, 1}}, CacheSplit::sequence), 25 * layers);
    const samples::Mesh data{{"data", "x y"}};
    EXPECT_EQ(cache_of(data, {{1, 1, 99, 1}, {1, 1, 79, 1}}, CacheSplit::batch), 100 * layers);
    // Five sequences on four shards: the longest alone has more than the two short ones that share
    // a shard.
    EXPECT_EQ(cache_of(data, {{1, 1, 299, 1}, {4, 1, 99, 1}}, CacheSplit::batch), 400 * layers);
}

// 8193 new tokens of two sequences on four shards: the fullest has 8192.
TEST(PlacedRuns, OccupancyCountsSequences) {
    const Scenario scenario = inference("v5e", {2, 2, 1}, small_model(3), {{"data", "x y"}},
                                        {{1, 8192, 0, 1}, {1, 1, 8192, 1}});
    const workloads::Occupancy batch =
        workloads::occupancy_of(scenario.step().model, scenario.step().plan);
    EXPECT_EQ(batch.sequences, 2);
    EXPECT_EQ(batch.shards, 4);
    EXPECT_EQ(batch.sequences_per_shard, 1);
    EXPECT_EQ(batch.occupied, 8193.0 / (4 * 8192));
}

// Tables are also gathered in their stored bytes: 3/4 of all parameters pass each chip, one
// byte each.
TEST(PlacedRuns, WeightsAreGatheredAsTheyAreStored) {
    const Scenario scenario =
        inference("v5e", {2, 2, 1}, small_model(3), {{"fsdp", "x y"}}, {{4, 1, 100, 1}});
    double gathered = 0;
    for (const workloads::Op& op :
         workloads::build_step(scenario.step().model, scenario.step().plan).ops) {
        if (const auto* one = std::get_if<workloads::Collective>(&op.work);
            one != nullptr && one->purpose == workloads::Purpose::weights) {
            gathered += one->bytes.value();
        }
    }
    const workloads::ParameterCount count = workloads::count_parameters(scenario.step().model);
    EXPECT_NEAR(gathered, static_cast<double>(count.total),
                1e-3 * static_cast<double>(count.total));
}

// One kernel processes all runs of a step: its start counts once per layer, for any number of runs.
TEST(PlacedRuns, AttentionOfAllRunsIsOneKernel) {
    const auto time = [](std::vector<CachedRun> runs, double start) {
        Scenario scenario = inference("v5e", {1, 1, 1}, small_model(3), {}, std::move(runs));
        scenario.hardware.efficiency.kernel_s = start;
        return simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
    };
    const std::vector<CachedRun> one{{4, 1, 100, 1}};
    const std::vector<CachedRun> three{{2, 1, 100, 1}, {1, 1, 300, 1}, {1, 1, 500, 1}};
    EXPECT_EQ((time(three, 1e-3) - time(three, 0)).ps, (time(one, 1e-3) - time(one, 0)).ps);
}

// The fullest shard has the prompt and no decode, which another shard computes beside it. Its
// kernel starts with the prompt, whichever run is first. All members of `cache` have rows of both
// runs. A regression: 11 us a layer were missing if the decode came first.
TEST(PlacedRuns, AKernelStartsWithTheFirstRunThatAWayHas) {
    const auto time = [](const char* axis, std::vector<CachedRun> runs) {
        Scenario scenario =
            inference("v5e", {2, 2, 1}, small_model(3), {{axis, "x y"}}, std::move(runs));
        scenario.hardware.efficiency.kernel_s = 11e-6;
        return simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
    };
    const CachedRun prompt{1, 1000, 0, 1};
    const CachedRun decode{1, 1, 100, 1};
    EXPECT_EQ(time("cache", {decode, prompt}), time("cache", {prompt, decode}));
    EXPECT_EQ(time("data", {decode, prompt}), time("data", {prompt}));
    EXPECT_EQ(time("data", {prompt, decode}), time("data", {prompt}));
}

}  // namespace
}  // namespace podsim::scenarios
