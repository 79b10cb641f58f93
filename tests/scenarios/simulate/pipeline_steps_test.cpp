// Pipelines: bubbles and activations as in the papers, folding, mixes with other parallelisms.
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/run_step.h"
#include "scenarios/src/simulate/stream_account.h"
#include "tests/scenarios/simulate/pipeline_support.h"
#include "workloads/plan/pipeline_order.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::kPipelineLayers;
using samples::latent_experts;
using samples::make_scenario;
using samples::pipeline_on;
using samples::small_model;
using samples::sum;
using workloads::PipelineSchedule;
using UnitKind = workloads::PipelineUnit::Kind;

/// Returns equal stages, with links that cost nothing.
Scenario uniform(PipelineSchedule schedule, int stages, int microbatches, int chunks = 1,
                 bool experts = false) {
    const std::vector<std::pair<std::string, std::string>> dense{{"pipeline", "z"},
                                                                 {"fsdp", "x y"}};
    Scenario scenario =
        pipeline_on({4, 4, stages},
                    experts ? std::vector<std::pair<std::string, std::string>>{{"pipeline", "z"},
                                                                               {"expert", "x"},
                                                                               {"fsdp", "y"}}
                            : dense,
                    std::int64_t{16} * microbatches, schedule, microbatches, chunks);
    if (experts) {
        scenario.step().model = latent_experts(kPipelineLayers);
        scenario.step().plan.batch.tokens *= 8;  // the MXU decides
    }
    scenario.step().plan.layers_only = true;
    scenario.step().plan.remat.policy = workloads::RematPolicy::none;
    scenario.hardware.chip.ici_latency.value = sim::Seconds(0);
    scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond::infinity();
    scenario.hardware.chip.collective_launch.value = sim::Seconds(0);
    return scenario;
}

/// Times of one microbatch's passes through a stage, from the spans of the reported chip.
struct PassTimes {
    sim::Time forward;
    sim::Time input;
    sim::Time weights;
    [[nodiscard]] sim::Time total() const { return forward + input + weights; }
};
PassTimes pass_times(const StepResult& result, int microbatches) {
    PassTimes sums;
    for (const Span& span : spans_of(result.reported_chip)) {
        if (span.track == "compute") {
            const bool forward = span.name.find(" forward ") != std::string::npos;
            const bool weights = span.name.find("weight gradient") != std::string::npos;
            (forward ? sums.forward : weights ? sums.weights : sums.input) += span.end - span.start;
        }
    }
    // The first microbatch writes the gradients, the others add to them. Times of all microbatches
    // are equal only if the MXU decides, which the tests assert.
    for (sim::Time* time : {&sums.forward, &sums.input, &sums.weights}) {
        EXPECT_EQ(time->ps % microbatches, 0);
        time->ps /= microbatches;
    }
    return sums;
}

/// Returns the maximum bytes of saved activations that the chip of a stage holds at once, by the
/// times of the run. Received rows count once their forward pass begins.
double most_activations(const workloads::StepProgram& program, const ChipRun& chip) {
    std::multimap<std::pair<std::int64_t, int>, double> changes;  // at one instant, ends first
    for (const workloads::Buffer& buffer : program.buffers) {
        if (buffer.memory_class != workloads::MemoryClass::activations) {
            continue;
        }
        std::int64_t from = 0;
        if (buffer.allocated_at != workloads::kWholeStep) {
            workloads::OpIndex op = buffer.allocated_at;
            while (std::holds_alternative<workloads::Handover>(program.ops[op].work)) {
                ++op;
            }
            from = chip.began[op].ps;
        }
        std::int64_t until = 0;
        for (const workloads::OpIndex op : buffer.freed_after) {
            until = std::max(until, chip.ended[op].ps);
        }
        changes.insert({{from, 1}, buffer.bytes.value()});
        changes.insert({{until, 0}, -buffer.bytes.value()});
    }
    double held = 0;
    double most = 0;
    for (const auto& [at, bytes] : changes) {
        held += bytes;
        most = std::max(most, held);
    }
    return most;
}

/// Returns the activations that one microbatch saves in one chunk of layers.
double activations_of_chunk(const Scenario& scenario) {
    workloads::TrainingPlan plan = scenario.step().plan;
    plan.batch.tokens /= plan.batch.microbatches;
    plan.batch.microbatches = plan.ways.pipeline = plan.pipeline.chunks = 1;
    plan.pipeline.schedule = PipelineSchedule::one_f_one_b;
    double sum = 0;
    for (const workloads::Buffer& buffer :
         workloads::build_step(scenario.step().model, plan).buffers) {
        sum +=
            buffer.memory_class == workloads::MemoryClass::activations ? buffer.bytes.value() : 0;
    }
    return sum / (scenario.step().plan.ways.pipeline * scenario.step().plan.pipeline.chunks);
}

// A stage takes m (F + B), where B has both gradients. The chip that ends last waits
// (p - 1)(F + B); with v chunks it waits a v-th of that. Handovers take no time, so it waits only
// for the bubble.
TEST(Pipeline, IdleFractionIsThatOfTheFormula) {
    struct Case {
        PipelineSchedule schedule;
        int stages;
        int microbatches;
        int chunks = 1;
    };
    for (const auto& [schedule, p, m, v] :
         {Case{PipelineSchedule::gpipe, 4, 8}, Case{PipelineSchedule::gpipe, 8, 4},
          Case{PipelineSchedule::one_f_one_b, 4, 8}, Case{PipelineSchedule::one_f_one_b, 8, 8},
          Case{PipelineSchedule::one_f_one_b, 8, 3}, Case{PipelineSchedule::interleaved, 4, 8, 2},
          Case{PipelineSchedule::interleaved, 4, 8, 4},
          Case{PipelineSchedule::interleaved, 4, 4, 2},
          Case{PipelineSchedule::interleaved, 8, 16, 2}}) {
        SCOPED_TRACE(std::string(workloads::to_string(schedule)) + " p " + std::to_string(p) +
                     " m " + std::to_string(m) + " v " + std::to_string(v));
        const Scenario scenario = uniform(schedule, p, m, v);
        const StepResult result = simulate_step(scenario, Fold::automatic);
        ASSERT_EQ(result.compute.ps % (m * v), 0);
        EXPECT_EQ(result.exposed_total.ps, result.compute.ps / (m * v) * (p - 1));
        ASSERT_EQ(result.exposed.size(), 1U);
        EXPECT_EQ(result.exposed[0].name, "bubble");
        EXPECT_DOUBLE_EQ(result.bubble, (p - 1.0) / (v * m + p - 1.0));
        EXPECT_DOUBLE_EQ(result.bubble,
                         workloads::bubble_fraction(scenario.step().plan, result.passes));
        EXPECT_LE(result.lower.time.value(), result.step_time.seconds());
    }
}

// Forward passes alone fill the same pipeline: the last stage waits p - 1 passes of a chunk for
// its first.
TEST(Pipeline, EvaluationStepsRunEveryChunkOfEverySchedule) {
    for (const auto& [schedule, chunks] :
         {std::pair{PipelineSchedule::gpipe, 1}, std::pair{PipelineSchedule::one_f_one_b, 1},
          std::pair{PipelineSchedule::zero_bubble, 1},
          std::pair{PipelineSchedule::interleaved, 2}}) {
        SCOPED_TRACE(std::string(workloads::to_string(schedule)));
        Scenario scenario = uniform(schedule, 4, 8, chunks);
        const StepResult training = simulate_step(scenario, Fold::automatic);
        scenario.step().plan.forward_only = true;
        const StepResult result = simulate_step(scenario, Fold::automatic);
        EXPECT_EQ(result.compute, pass_times(training, 8).forward * 8);
        EXPECT_EQ(result.exposed_total.ps, result.compute.ps / (8 * chunks) * 3);
        EXPECT_DOUBLE_EQ(result.bubble,
                         workloads::bubble_fraction(scenario.step().plan, result.passes));
        EXPECT_EQ(simulate_step(scenario, Fold::off).step_time, result.step_time);
    }
}

// ZB-H1: (p - 1)(F + B - W), for passes of any length with W <= F and W <= B. The same with experts
// and latent attention, whose AllToAlls take no time on these links.
TEST(Pipeline, ZeroBubbleLeavesForwardAndInputLessWeightPasses) {
    for (const auto& [p, m, experts] : {std::tuple{4, 8, false},
                                        {8, 8, false},
                                        {8, 16, false},
                                        {2, 5, false},
                                        {4, 8, true},
                                        {8, 8, true},
                                        {2, 5, true}}) {
        SCOPED_TRACE(std::to_string(p) + " stages, " + std::to_string(m) + " microbatches" +
                     (experts ? ", experts" : ""));
        const Scenario scenario = uniform(PipelineSchedule::zero_bubble, p, m, 1, experts);
        const StepResult result = simulate_step(scenario, Fold::automatic);
        const PassTimes times = pass_times(result, m);
        EXPECT_LE(times.weights, times.forward);
        EXPECT_LE(times.weights, times.input);
        EXPECT_EQ(result.compute, times.total() * m);
        EXPECT_EQ(result.exposed_total, (times.forward + times.input - times.weights) * (p - 1));
        EXPECT_DOUBLE_EQ(result.passes.forward.value(), times.forward.seconds());
        EXPECT_DOUBLE_EQ(result.passes.input_gradients.value(), times.input.seconds());
        EXPECT_DOUBLE_EQ(result.passes.weight_gradients.value(), times.weights.seconds());
        EXPECT_NEAR(result.bubble, workloads::bubble_fraction(scenario.step().plan, result.passes),
                    1e-12);
    }
}

// GPipe holds m microbatches on every stage, 1F1B p - s on stage s. ZB-H1 holds p on every stage,
// the maximum of 1F1B, but s of these without tensors that only input gradients need. Interleaved
// holds v p + p - 1 chunks on the first stage (all v m if m = p).
TEST(Pipeline, ActivationsInFlightAreThoseOfThePapers) {
    struct Case {
        PipelineSchedule schedule;
        int microbatches;
        int chunks;
        std::vector<int> in_flight;  ///< chunks, by stage
        bool experts = false;
    };
    for (const Case& one : {Case{PipelineSchedule::gpipe, 8, 1, {8, 8, 8, 8}},
                            Case{PipelineSchedule::one_f_one_b, 8, 1, {4, 3, 2, 1}},
                            Case{PipelineSchedule::zero_bubble, 8, 1, {4, 4, 4, 4}},
                            Case{PipelineSchedule::zero_bubble, 8, 1, {4, 4, 4, 4}, true},
                            Case{PipelineSchedule::interleaved, 8, 2, {11, 9, 7, 5}},
                            Case{PipelineSchedule::interleaved, 8, 4, {19, 17, 15, 13}},
                            Case{PipelineSchedule::interleaved, 4, 2, {8, 8, 8, 8}}}) {
        SCOPED_TRACE(workloads::to_string(one.schedule));
        const Scenario scenario =
            uniform(one.schedule, 4, one.microbatches, one.chunks, one.experts);
        const auto stages = workloads::build_stages(scenario.step().model, scenario.step().plan);
        const StepRun run = run_step(lower_step(stages, AchievedHardware(scenario.hardware),
                                                scenario.step().mesh, Fold::automatic));
        for (std::size_t stage = 0; stage < 4; ++stage) {
            // q, k and v of 4 layers, 512 tokens, 8 + 2 x 4 heads: freed once the input gradients
            // are made. Latent attention frees 4096 tokens and 3 x 8 heads, but keeps its latents.
            // The outputs of each token's 2 experts are freed too.
            const bool split = one.schedule == PipelineSchedule::zero_bubble;
            const double elements = one.experts ? 4096 * (24 * 64 + 2 * 512) : 512 * 16 * 64;
            const double gone = split ? static_cast<double>(stage) * 4 * elements * 2 : 0;
            EXPECT_DOUBLE_EQ(most_activations(stages.programs[stage], run.chips[stage]),
                             one.in_flight[stage] * activations_of_chunk(scenario) - gone)
                << "stage " << stage;
        }
    }
}

// A message of b bytes takes b / r + a. The forward pass of the last stage begins after p - 1
// passes and p - 1 messages of r D 2 bytes, and the first gradient returns likewise. With GPipe the
// first chip waits for twice p - 1 messages.
TEST(Pipeline, SendsTakeTheirTimeOnTheLinks) {
    Scenario scenario = uniform(PipelineSchedule::gpipe, 4, 8);
    scenario.hardware.hbm = HbmRule::separate;  // passes do not wait for what messages write
    scenario.step().plan.ways.fsdp = 1;  // nothing else on the links: 16 pipelines side by side
    scenario.step().plan.batch.tokens /= 16;
    scenario.step().mesh = topology::DeviceMesh(
        scenario.hardware.slice, {{"pipeline", {{2, 1, 4}}}, {"copies", {{0, 1, 4}, {1, 1, 4}}}});
    const StepResult free = simulate_step(scenario, Fold::automatic);
    scenario.hardware.chip.ici_latency.value = sim::Seconds(1e-6);
    scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond(64e9);
    const StepResult result = simulate_step(scenario, Fold::automatic);
    const sim::Time message =
        sim::round_up(sim::Bytes(512 * 512 * 2) / sim::BytesPerSecond(64e9)) + sim::Time{1000000};
    EXPECT_EQ(result.compute, free.compute);
    EXPECT_EQ(result.step_time - free.step_time, message * 6);
}

// A chip with slower work delays the others; the step's terms still add up.
TEST(Pipeline, UnequalStagesAddUp) {
    for (const bool tied : {false, true}) {
        Scenario scenario = pipeline_on({2, 2, 4}, {{"pipeline", "z"}, {"fsdp", "x y"}}, 32,
                                        PipelineSchedule::one_f_one_b, 8);
        scenario.step().model.vocabulary = 65536;  // the last stage has most to do
        scenario.step().model.tied_embeddings = tied;
        const StepResult result = simulate_step(scenario, Fold::automatic);
        EXPECT_EQ(sum(result.gap).ps, result.step_time.ps - sim::round_down(result.lower.time).ps);
        EXPECT_EQ(sum(result.critical_path), result.step_time);
    }
}

// The same tokens in m microbatches: the same FLOPs, weights gathered and gradients scattered m
// times, one AllReduce.
TEST(Microbatches, GatherAndScatterForEachReduceOnce) {
    Scenario scenario =
        make_scenario("v5p", {4, 4, 4}, small_model(3), {{"fsdp", "x y"}, {"data", "z"}}, 256, 512);
    std::map<std::pair<workloads::Purpose, collectives::Operation>, double> bytes[2];
    double flops[2] = {0, 0};
    for (const int split : {0, 1}) {
        scenario.step().plan.batch.microbatches = split == 1 ? 4 : 1;
        for (const workloads::Op& op :
             workloads::build_step(scenario.step().model, scenario.step().plan).ops) {
            if (const auto* one = std::get_if<workloads::Collective>(&op.work)) {
                bytes[split][{one->purpose, one->operation}] += one->bytes.value();
            } else {
                flops[split] += std::get<workloads::Compute>(op.work).flops.value();
            }
        }
    }
    EXPECT_DOUBLE_EQ(flops[0], flops[1]);
    ASSERT_EQ(bytes[0].size(), 3U);
    for (const auto& [key, once] : bytes[0]) {
        const bool reduced = key.second == collectives::Operation::all_reduce;
        EXPECT_DOUBLE_EQ(bytes[1].at(key), (reduced ? 1 : 4) * once);
    }
    const StepResult folded = simulate_step(scenario, Fold::automatic);
    EXPECT_EQ(folded.step_time, simulate_step(scenario, Fold::off).step_time);
}

}  // namespace
}  // namespace podsim::scenarios
