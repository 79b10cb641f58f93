// State that data parallelism shards: bytes of collectives, memory by class, dependencies, HBM
// traffic; buckets and limits of collectives in flight.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::find_op;
using samples::message_of;
using samples::Random;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// A layer has 64 + 64 + 8 = 136 parameters (memory_peak_test.cpp), tables 64 each, the final norm
// 4: 2 x 136 + 132 = 404.
ModelSpec tiny() {
    return {.name = "tiny",
            .source = "this test",
            .layers = 2,
            .d_model = 4,
            .d_ff = 8,
            .heads = 1,
            .kv_heads = 1,
            .head_dim = 4,
            .vocabulary = 16,
            .gated_mlp = false};
}

TrainingPlan four_data_ways(int zero) {
    TrainingPlan plan;
    plan.batch.sequence = 8;
    plan.batch.tokens = 32;
    plan.ways.data = 4;
    plan.zero = zero;
    return plan;
}

/// Returns the sum of V over the collectives of a purpose, an AllReduce twice.
double bytes_of(const StepProgram& program, Purpose purpose) {
    double sum = 0;
    for (const CollectiveBytes& row : collective_bytes(program)) {
        sum += row.purpose == purpose ? row.bytes.value() : 0;
    }
    return sum;
}

// For gradients an AllReduce counts twice the 2-byte array,
// a ReduceScatter once; parameters are gathered once.
TEST(Zero, BytesOfEveryStage) {
    EXPECT_EQ(bytes_of(build_step(tiny(), four_data_ways(0)), Purpose::gradients), 2 * 2 * 404);
    EXPECT_EQ(bytes_of(build_step(tiny(), four_data_ways(0)), Purpose::weights), 0);
    EXPECT_EQ(bytes_of(build_step(tiny(), four_data_ways(1)), Purpose::gradients), 2 * 404);
    EXPECT_EQ(bytes_of(build_step(tiny(), four_data_ways(1)), Purpose::weights), 2 * 404);
    EXPECT_EQ(bytes_of(build_step(tiny(), four_data_ways(2)), Purpose::gradients), 2 * 404);
    EXPECT_EQ(bytes_of(build_step(tiny(), four_data_ways(2)), Purpose::weights), 2 * 404);
    TrainingPlan plan = four_data_ways(2);
    plan.precision.parameters = plan.precision.gradients =
        4;  // masters stay where they are updated
    EXPECT_EQ(bytes_of(build_step(tiny(), plan), Purpose::gradients), 4 * 404);
    EXPECT_EQ(bytes_of(build_step(tiny(), plan), Purpose::weights), 2 * 404);
}

// ZeRO-1 scatters sums over m microbatches once, ZeRO-2 the gradients of each.
TEST(Zero, BytesOverMicrobatches) {
    for (const int zero : {0, 1, 2}) {
        TrainingPlan plan = four_data_ways(zero);
        plan.batch.tokens = 4 * 32;
        plan.batch.microbatches = 4;
        EXPECT_EQ(bytes_of(build_step(tiny(), plan), Purpose::gradients), (zero == 0   ? 2
                                                                           : zero == 1 ? 1
                                                                                       : 4) *
                                                                              2 * 404);
    }
}

// In random models and plans every byte of gradients
// is reduced and every parameter is gathered again.
TEST(Zero, BytesOfRandomPlans) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        plan.ways.data = random.from(2, 4);
        const double x = plan.ways.fsdp * plan.ways.context * plan.ways.expert;
        const double held =
            static_cast<double>(count_parameters(model).total) / plan.ways.tensor / x;
        const auto bytes = [&](int zero, Purpose purpose) {
            plan.zero = zero;
            const StepProgram program = build_step(model, plan);
            for (const Op& op : program.ops) {
                const auto* moved = std::get_if<Collective>(&op.work);
                EXPECT_GE(moved != nullptr ? moved->bytes.value()
                                           : std::get<Compute>(op.work).hbm.value(),
                          0)
                    << op.name;
            }
            return bytes_of(program, purpose);
        };
        const double near = 1e-9 * held * x + 1e-9;
        const int each = plan.batch.microbatches;  // scatters of ZeRO-2
        const double gathers = bytes(0, Purpose::weights);
        const double reduced = bytes(0, Purpose::gradients);
        EXPECT_NEAR(bytes(1, Purpose::gradients), reduced - 2 * held, near);
        EXPECT_NEAR(bytes(2, Purpose::gradients), reduced + (2 * each - 4) * held, near);
        EXPECT_NEAR(bytes(1, Purpose::weights) - gathers, 2 * held, near);
        EXPECT_NEAR(bytes(2, Purpose::weights) - gathers, 2 * held, near);
    }
}

/// Returns the bytes of a class held at an operation, in program order.
double held_at(const StepProgram& program, const std::string& name, MemoryClass memory_class) {
    const OpIndex at = find_op(program, name);
    double bytes = 0;
    for (const Buffer& buffer : program.buffers) {
        const bool begun = buffer.allocated_at == kWholeStep || buffer.allocated_at <= at;
        const bool ended =
            !buffer.freed_after.empty() && *std::ranges::max_element(buffer.freed_after) < at;
        bytes += buffer.memory_class == memory_class && begun && !ended ? buffer.bytes.value() : 0;
    }
    return bytes;
}

struct StageMemory {
    double parameters;
    double optimizer;
    double gradients;
};

StageMemory memory_of(const TrainingPlan& plan) {
    const StepProgram program = build_step(tiny(), plan);
    const std::string update = plan.zero > 0 ? "optimizer update embedding" : "optimizer update";
    return {held_at(program, update, MemoryClass::parameters),
            held_at(program, update, MemoryClass::optimizer),
            held_at(program, update, MemoryClass::gradients)};
}

// 404 parameters over data of 4 are 101 each: every group (64, 68, 136) divides by 4.
TEST(Zero, MemoryOfEveryStageAndPrecision) {
    for (const double parameters : {2.0, 4.0}) {
        for (const double moment : {2.0, 4.0}) {
            for (const double gradient : {2.0, 4.0}) {
                TrainingPlan plan = four_data_ways(0);
                plan.precision.parameters = parameters;
                plan.precision.optimizer_moment = moment;
                plan.precision.gradients = gradient;
                const StageMemory none = memory_of(plan);
                EXPECT_EQ(none.parameters, 404 * parameters);
                EXPECT_EQ(none.optimizer, 404 * 2 * moment);
                EXPECT_EQ(none.gradients, 404 * gradient);
                // Every rank has a 2-byte copy; 4-byte masters exist only in shards.
                const double copies = 404 * 2 + (parameters == 4 ? 101 * 4 : 0);
                plan.zero = 1;
                const StageMemory first = memory_of(plan);
                EXPECT_EQ(first.parameters, copies);
                EXPECT_EQ(first.optimizer, 101 * 2 * moment);
                EXPECT_EQ(first.gradients, 404 * gradient);
                plan.zero = 2;
                const StageMemory second = memory_of(plan);
                EXPECT_EQ(second.parameters, copies);
                EXPECT_EQ(second.optimizer, 101 * 2 * moment);
                EXPECT_EQ(second.gradients, 101 * gradient);
            }
        }
    }
}

TEST(Zero, UpdatesFollowAllReductionsAndGathersTheirUpdate) {
    const StepProgram program = build_step(tiny(), four_data_ways(2));
    std::vector<std::string> tail;
    for (const Op& op : program.ops) {
        if (op.pass == Pass::optimizer) {
            tail.push_back(op.name);
        }
    }
    EXPECT_THAT(tail, ElementsAre("optimizer update embedding", "optimizer gather embedding",
                                  "optimizer update layer 0", "optimizer gather layer 0",
                                  "optimizer update layer 1", "optimizer gather layer 1",
                                  "optimizer update unembedding", "optimizer gather unembedding"));
    EXPECT_THAT(program.ops[find_op(program, "optimizer update embedding")].after,
                Contains(find_op(program, "embedding backward reduce-scatter gradients")));
    const OpIndex update = find_op(program, "optimizer update layer 1");
    EXPECT_THAT(program.ops[find_op(program, "optimizer gather layer 1")].after,
                ElementsAre(update));
    // The next update does not wait for the gather.
    EXPECT_THAT(program.ops[find_op(program, "optimizer update unembedding")].after,
                ElementsAre(update));
    // A quarter of 136: parameters, gradient and moments
    // are read and written as the whole update does.
    EXPECT_EQ(std::get<Compute>(program.ops[update].work).hbm.value(), 34 * (2 + 2 + 2 + 4 * 4));
    TrainingPlan plan = four_data_ways(1);
    plan.precision.parameters = 4;
    plan.precision.optimizer_moment = 2;
    const StepProgram masters = build_step(tiny(), plan);
    EXPECT_EQ(std::get<Compute>(masters.ops[find_op(masters, "optimizer update layer 1")].work)
                  .hbm.value(),
              34 * (4 + 2 + 4 + 4 * 2 + 2));  // and the gathered copy
}

TEST(Zero, ATiedTableIsUpdatedAndGatheredOnce) {
    ModelSpec model = tiny();
    model.tied_embeddings = true;
    const StepProgram program = build_step(model, four_data_ways(1));
    EXPECT_EQ(bytes_of(program, Purpose::weights), 2 * (404 - 64));
    const auto& gather =
        std::get<Collective>(program.ops[find_op(program, "optimizer gather unembedding")].work);
    EXPECT_EQ(gather.bytes.value(), 2 * 4);  // the final norm
}

TEST(Zero, RefusedWithoutDataAndBeyondTwo) {
    TrainingPlan plan = four_data_ways(1);
    plan.ways.data = 1;
    EXPECT_EQ(message_of([&] { validate(plan, tiny()); }),
              "zero = 1 shards over data, but data = 1; leave it out; fsdp is ZeRO-3 already");
    plan.zero = 3;
    EXPECT_EQ(message_of([&] { validate(plan, tiny()); }),
              "zero = 3 is out of range; allowed are 0 to 2");
}

std::vector<double> reductions_of(const StepProgram& program) {
    std::vector<double> bytes;
    for (const Op& op : program.ops) {
        const auto* one = std::get_if<Collective>(&op.work);
        if (one != nullptr && one->purpose == Purpose::gradients) {
            bytes.push_back(one->bytes.value());
        }
    }
    return bytes;
}

// Gradients have 2 bytes, in the order of the backward
// pass: unembedding 136, layers 272 and 272, embedding 128.
TEST(Buckets, MergeAndSplitGroups) {
    TrainingPlan plan = four_data_ways(0);
    EXPECT_THAT(reductions_of(build_step(tiny(), plan)), ElementsAre(136, 272, 272, 128));
    plan.overlap.bucket = sim::Bytes(400);
    EXPECT_THAT(reductions_of(build_step(tiny(), plan)), ElementsAre(400, 400, 8));
    plan.overlap.bucket = sim::Bytes(100);
    EXPECT_THAT(reductions_of(build_step(tiny(), plan)),
                ElementsAre(100, 100, 100, 100, 100, 100, 100, 100, 8));
    plan.overlap.bucket = sim::Bytes(1e6);
    const StepProgram program = build_step(tiny(), plan);
    EXPECT_THAT(reductions_of(program), ElementsAre(808));
    EXPECT_THAT(samples::names(program),
                Contains("optimizer backward all-reduce gradients bucket 0"));
}

// With any buckets all bytes are reduced, all buffers
// released, and the optimizer waits for every reduction.
TEST(Buckets, ReduceEverything) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const ModelSpec model = samples::random_model_of_training(random);
        TrainingPlan plan = samples::random_any_plan(random, true, model);
        plan.zero = plan.ways.data > 1 ? random.from(0, 2) : 0;
        TrainingPlan layers = plan;
        layers.layers_only = true;
        const double of_layers = bytes_of(build_step(model, layers), Purpose::gradients);
        const double whole = bytes_of(build_step(model, plan), Purpose::gradients);
        const std::string update =
            plan.zero > 0 ? "optimizer update embedding" : "optimizer update";
        const double kept = held_at(build_step(model, plan), update, MemoryClass::gradients);
        plan.overlap.bucket = sim::Bytes(random.from(1, 200) * 100);
        layers.overlap.bucket = plan.overlap.bucket;
        EXPECT_NEAR(bytes_of(build_step(model, layers), Purpose::gradients), of_layers,
                    1e-9 * of_layers);
        const StepProgram program = build_step(model, plan);
        EXPECT_NEAR(bytes_of(program, Purpose::gradients), whole, 1e-9 * whole);
        std::vector<bool> before(program.ops.size());
        std::vector<OpIndex> open{find_op(program, update)};
        while (!open.empty()) {
            const OpIndex op = open.back();
            open.pop_back();
            for (const OpIndex after : program.ops[op].after) {
                if (!before[after]) {
                    before[after] = true;
                    open.push_back(after);
                }
            }
        }
        std::size_t reductions = 0;
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            const auto* one = std::get_if<Collective>(&program.ops[op].work);
            if (one != nullptr && one->purpose == Purpose::gradients) {
                EXPECT_TRUE(before[op]) << program.ops[op].name;
                ++reductions;
            }
        }
        if (plan.ways.fsdp * plan.ways.context * plan.ways.expert > 1 || plan.ways.data > 1) {
            EXPECT_NEAR(held_at(program, update, MemoryClass::gradients), kept,
                        static_cast<double>(2 * reductions +
                                            2 * static_cast<std::size_t>(model.layers) + 4));
        }
    }
}

/// True if an operation can only begin when another has ended.
bool follows(const StepProgram& program, OpIndex later, OpIndex earlier) {
    std::vector<bool> seen(program.ops.size());
    std::vector<OpIndex> open{later};
    while (!open.empty()) {
        const OpIndex op = open.back();
        open.pop_back();
        for (const OpIndex after : program.ops[op].after) {
            if (after == earlier) {
                return true;
            }
            if (!seen[after]) {
                seen[after] = true;
                open.push_back(after);
            }
        }
    }
    return false;
}

// A loop's iteration ends with its reductions. One between slices
// that runs on ends with the next iteration: layer 1's is beside the
// whole backward pass of layer 0, and the embedding's waits for it.
TEST(LoopedLayers, ReductionsBetweenSlicesRunOnIntoTheNextTurn) {
    for (const bool runs_on : {false, true}) {
        TrainingPlan plan = four_data_ways(0);
        plan.overlap.layer_loop = true;
        plan.overlap.data_runs_on = runs_on;
        const StepProgram program = build_step(tiny(), plan);
        const OpIndex reduction = find_op(program, "layer 1 backward all-reduce gradients");
        std::vector<OpIndex> turn;
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            if (std::holds_alternative<Compute>(program.ops[op].work) &&
                program.ops[op].name.starts_with("layer 0") &&
                program.ops[op].pass != Pass::forward) {
                turn.push_back(op);
            }
        }
        ASSERT_GT(turn.size(), 3U);
        EXPECT_EQ(follows(program, turn.front(), reduction), !runs_on);
        EXPECT_EQ(follows(program, turn.back(), reduction), !runs_on);
        EXPECT_TRUE(follows(program, find_op(program, "embedding backward scatter-add gradient"),
                            reduction));
    }
}

// With n in flight, the i-th collective waits for the (i - n)-th.
TEST(CollectivesInFlight, FollowOneAnotherInProgramOrder) {
    for (const int limit : {1, 3}) {
        TrainingPlan plan = four_data_ways(2);
        plan.ways.fsdp = plan.ways.tensor = 1;
        plan.ways.context = 2;
        plan.overlap.prefetch_layers = 2;
        plan.overlap.collectives_in_flight = limit;
        const StepProgram program = build_step(tiny(), plan);
        std::vector<OpIndex> collectives;
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            if (!std::holds_alternative<Collective>(program.ops[op].work)) {
                continue;
            }
            const auto lanes = static_cast<std::size_t>(limit);
            if (collectives.size() >= lanes) {
                EXPECT_THAT(program.ops[op].after,
                            Contains(collectives[collectives.size() - lanes]));
            }
            collectives.push_back(op);
        }
        EXPECT_GT(collectives.size(), 20U);
    }
}

}  // namespace
}  // namespace podsim::workloads
