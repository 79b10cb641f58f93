// Bytes and memory of the loss, and sums of gradients over microbatches.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::compute_of;
using samples::find_op;
using samples::names_with;
using samples::one_chip;
using samples::one_layer;
using ::testing::ElementsAre;

// Four microbatches have a unit forward and a unit backward each.
TEST(BuildStep, AsksForEveryUnitWhetherToGoOn) {
    TrainingPlan plan = one_chip();
    plan.batch.microbatches = 4;
    plan.batch.tokens *= 4;
    int asked = 0;
    static_cast<void>(build_step(one_layer(), plan, {}, [&] { ++asked; }));
    EXPECT_EQ(asked, 8);
    EXPECT_THROW(static_cast<void>(build_stages_that_fit(one_layer(), plan, sim::Bytes(1e12),
                                                         [&] {
                                                             if (++asked == 11) {
                                                                 throw std::runtime_error("stop");
                                                             }
                                                         })),
                 std::runtime_error);
    EXPECT_EQ(asked, 11);
}

// Each of t = 32 tokens has a maximum and a sum of 4 bytes. Logits take t x V / T of 2 bytes, held
// until the weight gradient has read them.
TEST(Loss, ReducesTwoValuesATokenAndHoldsItsLogits) {
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    const StepProgram program = build_step(one_layer(), plan);
    const Op& softmax = program.ops[find_op(program, "unembedding forward reduce softmax")];
    EXPECT_EQ(std::get<Collective>(softmax.work).bytes.value(), 32 * 2 * 4);
    EXPECT_EQ(std::get<Collective>(softmax.work).operation, collectives::Operation::all_reduce);

    const OpIndex logits = find_op(program, "unembedding forward logits");
    std::vector<double> bytes;
    for (const Buffer& buffer : program.buffers) {
        if (buffer.allocated_at == logits) {
            bytes.push_back(buffer.bytes.value());
            EXPECT_EQ(buffer.memory_class, MemoryClass::buffers);
            EXPECT_THAT(buffer.freed_after,
                        ElementsAre(find_op(program, "unembedding backward weight gradient")));
        }
    }
    EXPECT_THAT(bytes, ElementsAre(32 * 64 / 2 * 2));
}

// Shards of every microbatch add up; the AllReduce over data comes once, behind the last.
TEST(Sums, AreReducedOverDataAfterTheLastMicrobatch) {
    TrainingPlan plan = one_chip();
    plan.ways.fsdp = plan.ways.data = 2;
    plan.batch.microbatches = 3;
    plan.batch.tokens = 32 * 4 * 3;
    const StepProgram program = build_step(one_layer(), plan);
    EXPECT_THAT(names_with(program, "layer 0 backward all-reduce"),
                ElementsAre("microbatch 2 layer 0 backward all-reduce gradients"));
    EXPECT_THAT(names_with(program, "layer 0 backward reduce-scatter"),
                ElementsAre("microbatch 0 layer 0 backward reduce-scatter gradients",
                            "microbatch 1 layer 0 backward reduce-scatter gradients",
                            "microbatch 2 layer 0 backward reduce-scatter gradients"));
    // The shard of the sums is held once, from the first microbatch to the end.
    std::vector<OpIndex> shards;
    for (const Buffer& buffer : program.buffers) {
        if (buffer.memory_class == MemoryClass::gradients && buffer.freed_after.empty()) {
            shards.push_back(buffer.allocated_at);
        }
    }
    EXPECT_THAT(
        shards,
        ElementsAre(find_op(program, "microbatch 0 unembedding backward reduce-scatter gradients"),
                    find_op(program, "microbatch 0 layer 0 backward reduce-scatter gradients"),
                    find_op(program, "microbatch 0 embedding backward reduce-scatter gradients")));
}

// If nothing is scattered, the first write of a group in
// every later microbatch reads the sums: 2 bytes a parameter.
TEST(Sums, AreReadAgainByTheFirstWriteOfEveryLaterMicrobatch) {
    const ModelSpec model = one_layer();
    TrainingPlan plan = one_chip();
    plan.batch.microbatches = 3;
    plan.batch.tokens *= 3;
    const StepProgram program = build_step(model, plan);
    const auto hbm = [&](int microbatch, const std::string& what) {
        return compute_of(program, "microbatch " + std::to_string(microbatch) + " " + what)
            .hbm.value();
    };
    const double layer = layer_weights(model, {}).total().dense * 2;
    const double table = 64 * 16 * 2;
    for (const int later : {1, 2}) {
        const auto more = [&](const std::string& what) { return hbm(later, what) - hbm(0, what); };
        EXPECT_EQ(more("layer 0 backward down weight gradient"), layer);
        EXPECT_EQ(more("layer 0 backward gate_up weight gradient"), 0);
        EXPECT_EQ(more("layer 0 backward qkv weight gradient"), 0);
        EXPECT_EQ(more("unembedding backward weight gradient"), table + 16 * 2);
        EXPECT_EQ(more("embedding backward scatter-add gradient"), table);
        EXPECT_EQ(more("layer 0 backward down input gradient"), 0);
    }
}

}  // namespace
}  // namespace podsim::workloads
