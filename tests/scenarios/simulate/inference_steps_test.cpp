// Steps of inference against hand calculation: the time of a decode step with free links, the bytes
// it reads. Folded and unfolded runs agree, and no step beats its bound.
#include <algorithm>
#include <gtest/gtest.h>

#include "scenarios/src/simulate/rates.h"
#include "tests/scenarios/simulate/inference_support.h"
#include "workloads/bounds/book_inference.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/models/kv_cache.h"
#include "workloads/plan/axes.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using namespace samples;
using workloads::CachedRun;
using workloads::CacheSplit;
using workloads::ModelSpec;

ModelSpec small_with_experts() {
    ModelSpec model = small_model(3);
    model.experts = {.count = 8, .per_token = 2, .shared = 1, .d_ff = 256};
    return model;
}

void free_links(topology::ChipSpec& chip) {
    chip.ici_latency.value = sim::Seconds(0);
    chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    chip.collective_launch.value = sim::Seconds(0);
}

/// Returns the HBM bytes of all operations whose name has that ending.
double bytes_of(const workloads::StepProgram& program, std::string_view ending) {
    double sum = 0;
    for (const workloads::Op& op : program.ops) {
        const auto* work = std::get_if<workloads::Compute>(&op.work);
        sum += work != nullptr && op.name.ends_with(ending) ? work->hbm.value() : 0;
    }
    return sum;
}

TEST(InferenceSteps, WithFreeLinksADecodeStepIsItsMxuAndHbmTimes) {
    for (const ModelSpec& model :
         {small_model(3), small_with_experts(), small_with_windows(), small_with_latents()}) {
        Scenario scenario = inference("v5e", {4, 2, 1}, model, {{"tensor", "x y"}}, {{24, 1, 500}});
        free_links(scenario.hardware.chip);
        const auto programs = workloads::build_stages(scenario.step().model, scenario.step().plan);
        const workloads::MachineRates rates = ideal_rates(scenario.hardware);
        sim::Time sum;
        for (const workloads::Op& op : programs.programs.front().ops) {
            if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
                const workloads::ComputeTime time = workloads::compute_time(*work, rates);
                sum += sim::round_up(std::max({time.mxu_padded, time.hbm, time.vpu}));
            }
        }
        EXPECT_EQ(simulate_step(scenario, Fold::automatic).step_time.ps, sum.ps) << model.name;
    }
}

TEST(InferenceSteps, ADecodeStepReadsAllWeightsAndTheWholeCacheOnce) {
    // One chip. Weights: all but the lookup's table, one byte each. Cache: 24 sequences of 500
    // tokens and the new one, and the new one written.
    const ModelSpec model = small_model(3);
    const Scenario scenario = inference("v5e", {1, 1, 1}, model, {{"tensor", "x"}}, {{24, 1, 500}});
    const auto programs = workloads::build_stages(model, scenario.step().plan);
    const workloads::StepProgram& program = programs.programs.front();
    const double of_token = workloads::cache_bytes(model, 1, 1).value();
    EXPECT_EQ(of_token, 3 * 2 * 4 * 64);
    const double queries = 3 * 24 * 8 * 64 * 2;  // bytes of queries, and of outputs, of all layers
    EXPECT_EQ(bytes_of(program, "attention"), 24 * 502 * of_token + 2 * queries);
    // A matmul moves rows in and out beside the matrix; norms, activations and rows are as in
    // training (work.h).
    double weights = 0;
    for (const workloads::Op& op : program.ops) {
        const auto* work = std::get_if<workloads::Compute>(&op.work);
        if (work == nullptr || work->matmuls.empty()) {
            continue;
        }
        const workloads::MatmulShape& shape = work->matmuls.front();
        EXPECT_EQ(shape.m, 24) << op.name;
        weights +=
            work->hbm.value() - work->elementwise.value() - 2 * shape.m * (shape.k + shape.n);
    }
    const workloads::ParameterCount count = workloads::count_parameters(model);
    EXPECT_EQ(weights, static_cast<double>(count.layers_matmul + count.unembedding));
}

// Covers both forms of latent attention, with cached keys made complete and without, and an axis
// cache that leaves no choice.
TEST(InferenceSteps, FlopsThatAreCountedAreThoseThatAreExecuted) {
    const ModelSpec model = small_with_latents();
    for (const Mesh& mesh : {Mesh{{"tensor", "x"}}, Mesh{{"cache", "x"}}}) {
        for (const CachedRun& run :
             {CachedRun{8, 1, 511}, {8, 16, 0}, {8, 256, 0}, {8, 256, 256}}) {
            const Scenario scenario = inference("v5e", {2, 1, 1}, model, mesh, {run});
            const workloads::TrainingPlan& plan = scenario.step().plan;
            const auto programs = workloads::build_stages(model, plan);
            const double executed =
                2 * workloads::flops_by_pass(programs.programs.front()).total().value();
            EXPECT_DOUBLE_EQ(workloads::step_flops(model, plan, {}).hardware.value(), executed)
                << mesh.front().first << ' ' << run.fresh << ' ' << run.cached;
        }
    }
}

// All scores of 4 prompts of 32 tokens count, 8 heads of 64 + 64 columns in 3 layers: 32^2 a head
// instead of 32 x 33 / 2.
TEST(InferenceSteps, AllScoresCountWhereTheyAreAskedFor) {
    const Scenario scenario =
        inference("v5e", {1, 1, 1}, small_model(3), {{"tensor", "x"}}, {{4, 32, 0}});
    const auto flops = [&](workloads::FlopRule rule) {
        return workloads::step_flops(scenario.step().model, scenario.step().plan, {}, rule)
            .model.value();
    };
    EXPECT_DOUBLE_EQ(
        flops(workloads::FlopRule::full_attention) - flops(workloads::FlopRule::masked_attention),
        3 * 4 * 8 * 2 * 128 * (32 * 32 - 32 * 33 / 2));
}

TEST(InferenceSteps, DraftedTokensAreNotCountedAndGeneratedOnesAre) {
    workloads::Inference step{.runs = {{4, 5, 100, 5}}};
    EXPECT_EQ(step.tokens(), 20);
    EXPECT_EQ(step.counted_tokens(), 4);
    step.runs = {{4, 32, 0, 1}};
    EXPECT_EQ(step.counted_tokens(), 128);
    step.generate = 7;
    EXPECT_EQ(step.counted_tokens(), 28);
    const Scenario drafts =
        inference("v5e", {1, 1, 1}, small_model(3), {{"tensor", "x"}}, {{4, 5, 100, 5}});
    const StepResult result = simulate_step(drafts, Fold::automatic);
    EXPECT_DOUBLE_EQ(result.tokens_per_s, 4 / result.step_time.seconds());
}

// Each token meets 2 of 8 experts: one token meets a quarter of them, two meet 1 - (3/4)^2.
TEST(InferenceSteps, TheTextsFormReadsTheExpertsThatAreMet) {
    const ModelSpec model = small_with_experts();
    const double all = static_cast<double>(workloads::count_parameters(model).total);
    const double experts = 3.0 * 8 * 3 * 512 * 256;
    for (const auto& [tokens, met] : {std::pair<std::int64_t, double>(1, 0.25), {2, 1 - 0.5625}}) {
        const Scenario scenario =
            inference("v5e", {1, 1, 1}, model, {{"tensor", "x"}}, {{tokens, 1, 9}});
        const workloads::MachineRates rates = ideal_rates(scenario.hardware);
        const auto book = workloads::book_inference(model, scenario.step().plan, 1, rates);
        EXPECT_DOUBLE_EQ(book.weights.value(), (all - experts * (1 - met)) / rates.hbm.value());
        EXPECT_EQ(book.parameters.value(), all);
    }
}

TEST(InferenceSteps, HoldsWeightsAndTheCacheOfAllTokensThatThereAreAtTheEnd) {
    const ModelSpec model = small_with_windows();
    Scenario scenario = inference("v5e", {2, 1, 1}, model, {{"tensor", "x"}}, {{24, 1, 500}});
    const auto held = [&](workloads::MemoryClass of) {
        return workloads::peak_in_program_order(
                   workloads::build_stages(model, scenario.step().plan).programs.front())
            .of(of)
            .value();
    };
    // Two layers keep 100 tokens, two all 501; 4 heads of 2 x 64 on two chips.
    EXPECT_EQ(held(workloads::MemoryClass::kv_cache), 24 * (2 * 100 + 2 * 501) * 2 * 2 * 64);
    scenario.step().plan.inference->reserved = 600;
    EXPECT_EQ(held(workloads::MemoryClass::kv_cache), 24 * (2 * 100 + 2 * 600) * 2 * 2 * 64);
    EXPECT_EQ(held(workloads::MemoryClass::parameters),
              static_cast<double>(workloads::count_parameters(model).total) / 2);
    EXPECT_EQ(held(workloads::MemoryClass::optimizer), 0);
}

TEST(InferenceSteps, WaysBeyondTheKeyHeadsRepeatThemOrShareTheirCache) {
    // With tensor parallelism of 8 each chip keeps one of the 4 heads of keys and values, so
    // that every head is kept twice. With a cache axis of 2 a chip keeps half of the sequences
    // of one head.
    const ModelSpec model = small_model(2);
    const auto cache = [&](const Mesh& mesh, CacheSplit split) {
        const Scenario scenario = inference("v5e", {4, 2, 1}, model, mesh, {{24, 1, 500}}, split);
        return workloads::peak_in_program_order(
                   workloads::build_stages(model, scenario.step().plan).programs.front())
            .of(workloads::MemoryClass::kv_cache)
            .value();
    };
    const double one_head = 2 * 24 * 501 * 2 * 64;
    EXPECT_EQ(cache({{"tensor", "x y"}}, CacheSplit::batch), one_head);
    EXPECT_EQ(cache({{"tensor", "x"}, {"cache", "y"}}, CacheSplit::batch), one_head / 2);
    EXPECT_EQ(cache({{"tensor", "x"}, {"cache", "y"}}, CacheSplit::sequence), one_head / 2);
}

struct MeshLayout {
    ModelSpec model;
    topology::Point shape;
    Mesh mesh;
    std::vector<CachedRun> runs;
    CacheSplit split = CacheSplit::batch;
    int microbatches = 1;
};

std::vector<MeshLayout> layouts() {
    return {
        {small_model(3), {4, 4, 4}, {{"tensor", "x"}, {"data", "y z"}}, {{32, 1, 500}}},
        {small_model(3),
         {4, 4, 4},
         {{"tensor", "x"}, {"cache", "y%2"}, {"data", "y/2 z"}},
         {{32, 1, 500}}},
        {small_model(3),
         {4, 4, 4},
         {{"tensor", "x"}, {"cache", "y%2"}, {"data", "y/2 z"}},
         {{32, 1, 500}},
         CacheSplit::sequence},
        {small_model(3),
         {4, 4, 4},
         {{"tensor", "x"}, {"tensor_transpose", "y"}, {"data", "z"}},
         {{32, 1, 500}}},
        {small_model(4),
         {4, 4, 4},
         {{"pipeline", "x"}, {"tensor", "y"}, {"data", "z"}},
         {{32, 1, 500}},
         CacheSplit::batch,
         4},
        {small_model(3),
         {4, 4, 4},
         {{"context", "x"}, {"tensor", "y"}, {"data", "z"}},
         {{2, 1024, 0, 1}}},
        {small_model(3),
         {4, 4, 4},
         {{"fsdp", "x"}, {"tensor", "y"}, {"data", "z"}},
         {{4, 512, 0, 1}}},
        {small_with_experts(),
         {4, 4, 4},
         {{"expert", "x"}, {"tensor", "y"}, {"data", "z"}},
         {{64, 1, 500}}},
        {small_with_experts(), {4, 4, 4}, {{"tensor", "x"}, {"data", "y z"}}, {{64, 1, 500}}},
        {small_with_latents(), {4, 4, 4}, {{"tensor", "x"}, {"data", "y z"}}, {{64, 1, 500}}},
        {small_with_windows(),
         {4, 4, 4},
         {{"tensor", "x"}, {"data", "y z"}},
         {{31, 1, 500}, {1, 128, 64, 1}}},
    };
}

TEST(InferenceSteps, FoldedEqualsUnfoldedAndNoStepBeatsItsBound) {
    for (const MeshLayout& one : layouts()) {
        Scenario scenario = inference("v5p", one.shape, one.model, one.mesh, one.runs, one.split);
        scenario.step().plan.batch.microbatches = one.microbatches;
        const StepResult folded = simulate_step(scenario, Fold::automatic);
        const StepResult whole = simulate_step(scenario, Fold::off);
        EXPECT_LT(folded.simulated_chips, whole.simulated_chips);
        EXPECT_EQ(folded.step_time.ps, whole.step_time.ps) << scenario.step().mesh.axes()[1].name;
        EXPECT_EQ(folded.memory.peak.value(), whole.memory.peak.value());
        EXPECT_GE(folded.step_time.seconds(), folded.lower.time.value());
        EXPECT_LE(folded.mfu, 1);
        sim::Time gap;
        for (const Share& share : folded.gap) {
            gap += share.time;
        }
        EXPECT_EQ(gap.ps, folded.step_time.ps - sim::round_down(folded.lower.time).ps);
    }
}

TEST(InferenceSteps, FlopsAreThoseOfNewTokensLogitsAndPairs) {
    // 24 sequences: layers' matmuls and the table once for each; 501 pairs a head of
    // 2 x 64 columns.
    const ModelSpec model = small_model(3);
    const Scenario scenario = inference("v5e", {1, 1, 1}, model, {{"tensor", "x"}}, {{24, 1, 500}});
    const StepResult result = simulate_step(scenario, Fold::automatic);
    const workloads::ParameterCount count = workloads::count_parameters(model);
    const double flops = 24 * (2.0 * static_cast<double>(count.layers_matmul + count.unembedding) +
                               3 * 8 * 501 * 2 * (64 + 64));
    EXPECT_NEAR(
        result.mfu,
        flops / (result.step_time.seconds() * scenario.hardware.chip.bf16_flops.value.value()),
        1e-12);
}

// In each of 3 layers each of 4 sequences costs 1 us in attention over pages, but nothing in one
// product over all buffers.
TEST(InferenceSteps, PagesAreGoneThroughOneSequenceAfterAnother) {
    Scenario scenario = inference("v5p", {1, 1, 1}, small_model(3), {}, {{4, 1, 100, 1}});
    const auto time = [&] { return simulate_step(scenario, Fold::automatic).step_time.ps; };
    const std::int64_t without = time();
    scenario.hardware.efficiency.sequence_s = 1e-6;
    EXPECT_EQ(time() - without, 3 * 4 * 1'000'000);
    scenario.step().plan.inference->dense = true;
    EXPECT_EQ(time(), without);
}

TEST(InferenceSteps, TheCacheSplitOverTheBatchTakesTwoAllToAllsALayer) {
    const auto count = [](CacheSplit split, collectives::Operation operation) {
        const Scenario scenario =
            inference("v5e", {4, 2, 1}, small_model(3), {{"tensor", "x"}, {"cache", "y"}},
                      {{24, 1, 500}}, split);
        std::size_t found = 0;
        const workloads::StepPrograms programs =
            workloads::build_stages(scenario.step().model, scenario.step().plan);
        for (const workloads::Op& op : programs.programs.front().ops) {
            const auto* collective = std::get_if<workloads::Collective>(&op.work);
            found += collective != nullptr && collective->operation == operation &&
                             collective->axes == std::vector<std::string>{"cache"}
                         ? 1
                         : 0;
        }
        return found;
    };
    using collectives::Operation;
    EXPECT_EQ(count(CacheSplit::batch, Operation::all_to_all), 3 * 2);
    EXPECT_EQ(count(CacheSplit::sequence, Operation::all_gather), 3);      // queries
    EXPECT_EQ(count(CacheSplit::sequence, Operation::all_reduce), 3);      // maxima
    EXPECT_EQ(count(CacheSplit::sequence, Operation::reduce_scatter), 3);  // outputs and sums
}

}  // namespace
}  // namespace podsim::scenarios
