// Layers that predict further tokens: their order, their work and their memory, by hand.
#include "workloads/step/further_tokens.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
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
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ModelSpec with_further(std::int64_t tokens) {
    ModelSpec model = samples::one_layer();
    model.mtp_layers = tokens;
    return model;
}

std::vector<std::string> from_to(const StepProgram& program, const std::string& first,
                                 const std::string& last) {
    std::vector<std::string> names = samples::names(program);
    return {std::ranges::find(names, first), std::ranges::find(names, last) + 1};
}

TEST(FurtherTokens, StandBetweenTheLossOfTheNextAndItsGradient) {
    EXPECT_THAT(
        from_to(build_step(with_further(1), one_chip()), "layer 0 forward down",
                "layer 0 backward down input gradient"),
        ElementsAre(
            "layer 0 forward down", "unembedding forward logits", "unembedding forward loss",
            "mtp 1 embedding forward lookup", "mtp 1 projection forward projection",
            "mtp 1 forward qkv", "mtp 1 forward attention", "mtp 1 forward out",
            "mtp 1 forward gate_up", "mtp 1 forward down", "mtp 1 unembedding forward logits",
            "mtp 1 unembedding forward loss", "mtp 1 unembedding backward input gradient",
            "mtp 1 unembedding backward weight gradient", "mtp 1 backward down input gradient",
            "mtp 1 backward down weight gradient", "mtp 1 backward gate_up input gradient",
            "mtp 1 backward gate_up weight gradient", "mtp 1 backward out input gradient",
            "mtp 1 backward out weight gradient", "mtp 1 backward attention gradient",
            "mtp 1 backward qkv input gradient", "mtp 1 backward qkv weight gradient",
            "mtp 1 projection backward projection input gradient",
            "mtp 1 projection backward projection weight gradient",
            "mtp 1 embedding backward scatter-add gradient", "unembedding backward input gradient",
            "unembedding backward weight gradient", "layer 0 backward down input gradient"));
}

/// Returns the numbers of a prefix in the names, in the order in which they come.
std::string order_of(const StepProgram& program, const std::string& what) {
    std::string order;
    for (const std::string& name : samples::names(program)) {
        if (name.ends_with(what)) {
            order += name.starts_with("mtp ") ? name.substr(4, 1) : "0";
        }
    }
    return order;
}

// Forward runs from the first to the last, backward from
// the last; each layer takes the rows of the previous one.
TEST(FurtherTokens, FollowEachOther) {
    const StepProgram program = build_step(with_further(3), one_chip());
    EXPECT_EQ(order_of(program, "forward logits"), "0123");
    EXPECT_EQ(order_of(program, "backward input gradient"), "3210");
    EXPECT_EQ(order_of(program, "forward qkv"), "0123");
    EXPECT_EQ(order_of(program, "backward qkv input gradient"), "3210");
}

// t = 32, D = 16, 2 bytes: 32 x 32 by 32 x 16. Both norms read 32 x 16 elements and write them,
// with 4 operations an element each. Backward each reads two and writes one, and the hidden rows'
// adds to the stream: 7 rows, 2 x 9 + 1 operations.
TEST(FurtherTokens, ProjectTwoRows) {
    const StepProgram program = build_step(with_further(1), one_chip());
    const Compute& forward = compute_of(program, "mtp 1 projection forward projection");
    EXPECT_EQ(forward.flops.value(), 2 * 32 * 32 * 16);
    EXPECT_EQ(forward.hbm.value(), 2 * (32 * 32 + 32 * 16 + 32 * 16) + 4 * 32 * 16 * 2);
    EXPECT_EQ(forward.vector.value(), 2 * 4 * 32 * 16);
    const Compute& input =
        compute_of(program, "mtp 1 projection backward projection input gradient");
    EXPECT_EQ(input.flops.value(), 2 * 32 * 16 * 32);
    EXPECT_EQ(input.hbm.value(), 2 * (32 * 16 + 16 * 32 + 32 * 32) + 7 * 32 * 16 * 2);
    EXPECT_EQ(input.vector.value(), (2 * 9 + 1) * 32 * 16);
    const Compute& weights =
        compute_of(program, "mtp 1 projection backward projection weight gradient");
    EXPECT_EQ(weights.flops.value(), 2 * 32 * 32 * 16);
    // The first gradient of the table zeroes it (64 x 16 x 2 bytes), the second adds.
    const double first =
        compute_of(program, "mtp 1 embedding backward scatter-add gradient").hbm.value();
    EXPECT_EQ(compute_of(program, "embedding backward scatter-add gradient").hbm.value(),
              first - 64 * 16 * 2);
}

// Lookups and logits have one table each. It is gathered for the
// first losses, and again for the lookup, except if it is tied. Its
// gradients add up over all losses, and are reduced with the last.
TEST(FurtherTokens, GatherAndReduceEveryTableOnce) {
    TrainingPlan plan = one_chip();
    plan.ways.fsdp = 2;
    plan.batch.tokens *= 2;
    plan.overlap.prefetch_layers = 0;
    ModelSpec model = with_further(2);
    EXPECT_THAT(
        names_with(build_step(model, plan), "gather weights"),
        ElementsAre("embedding forward gather weights", "layer 0 forward gather weights",
                    "unembedding forward gather weights", "mtp 1 embedding forward gather weights",
                    "mtp 1 projection forward gather weights", "mtp 1 forward gather weights",
                    "mtp 2 embedding forward gather weights",
                    "mtp 2 projection forward gather weights", "mtp 2 forward gather weights",
                    "mtp 2 backward gather weights", "mtp 2 projection backward gather weights",
                    "mtp 1 backward gather weights", "mtp 1 projection backward gather weights",
                    "layer 0 backward gather weights"));
    EXPECT_THAT(names_with(build_step(model, plan), "reduce-scatter"),
                ElementsAre("mtp 2 backward reduce-scatter gradients",
                            "mtp 2 projection backward reduce-scatter gradients",
                            "mtp 1 backward reduce-scatter gradients",
                            "mtp 1 projection backward reduce-scatter gradients",
                            "unembedding backward reduce-scatter gradients",
                            "layer 0 backward reduce-scatter gradients",
                            "embedding backward reduce-scatter gradients"));
    model.tied_embeddings = true;
    EXPECT_THAT(
        names_with(build_step(model, plan), "embedding forward gather weights"),
        ElementsAre("embedding forward gather weights", "unembedding forward gather weights"));
    EXPECT_THAT(names_with(build_step(model, plan), "reduce-scatter"),
                Not(Contains(HasSubstr("unembedding"))));
}

// With tensor parallelism of Y = 2 both rows are gathered, 32 x 16 of 2 bytes each; a shard has 16
// of the 32 rows of W. Backward the gradient is gathered, and that of both rows scattered.
TEST(FurtherTokens, TensorWaysSplitTheProjection) {
    TrainingPlan plan = one_chip();
    plan.ways.tensor = 2;
    const StepProgram program = build_step(with_further(1), plan);
    std::vector<std::string> moved;
    for (const Op& op : program.ops) {
        if (const auto* collective = std::get_if<Collective>(&op.work);
            collective != nullptr && op.name.starts_with("mtp 1 projection")) {
            EXPECT_EQ(collective->bytes.value(), 32 * 16 * 2) << op.name;
            moved.push_back(op.name.substr(std::string("mtp 1 projection ").size()));
        }
    }
    EXPECT_THAT(
        moved, ElementsAre("forward gather hidden rows", "forward gather embedded rows",
                           "forward scatter projection", "backward gather projection gradient",
                           "backward scatter hidden gradient", "backward scatter embedded gradient",
                           "backward gather hidden rows", "backward gather embedded rows"));
    EXPECT_EQ(compute_of(program, "mtp 1 projection forward projection").flops.value(),
              2 * 32 * 16 * 16);
}

/// Returns the buffers of `bytes` bytes that are held at an operation.
double held_of(const StepProgram& program, const std::string& name, double bytes) {
    const OpIndex at = find_op(program, name);
    return static_cast<double>(std::ranges::count_if(program.buffers, [&](const Buffer& buffer) {
        return buffer.bytes.value() == bytes && buffer.allocated_at <= at &&
               *std::ranges::max_element(buffer.freed_after) >= at;
    }));
}

// Every loss has logits, 32 x 256 of 2 bytes, and their gradients beside them: four blocks at the
// first gradient of two losses, two at the last.
TEST(FurtherTokens, LogitsOfAllLossesStandAtOnce) {
    ModelSpec model = with_further(1);
    model.vocabulary = 256;
    const StepProgram program = build_step(model, one_chip());
    constexpr double kLogits = 32 * 256 * 2;
    EXPECT_EQ(held_of(program, "mtp 1 unembedding backward weight gradient", kLogits), 4);
    EXPECT_EQ(held_of(program, "mtp 1 backward out input gradient", kLogits), 2);
    EXPECT_EQ(held_of(program, "unembedding backward weight gradient", kLogits), 2);
}

// The layers of the loop run again, those of further tokens do not.
TEST(FurtherTokens, KeepWhatTheirBackwardPassReads) {
    TrainingPlan plan = one_chip();
    for (const Remat& remat : {Remat{.policy = RematPolicy::block}, Remat{}}) {
        plan.remat = remat;
        const std::vector<std::string> again =
            names_with(build_step(with_further(2), plan), "recompute");
        EXPECT_THAT(again, Contains("layer 0 recompute qkv"));
        EXPECT_THAT(again, Not(Contains(HasSubstr("mtp"))));
    }
}

// Evaluation, and steps of layers alone, have at most the next token.
TEST(FurtherTokens, AreOfWholeTrainingSteps) {
    TrainingPlan plan = one_chip();
    plan.forward_only = true;
    EXPECT_THAT(names_with(build_step(with_further(1), plan), "mtp"), ElementsAre());
    plan.forward_only = false;
    plan.layers_only = true;
    EXPECT_THAT(names_with(build_step(with_further(1), plan), "mtp"), ElementsAre());
}

// A further token has a layer like the last, 2 D^2 = 512 and two norms of 16; in a model with a
// dense layer first, the layer has experts.
TEST(FurtherTokens, CountTheirParameters) {
    const std::int64_t layer = count_layer(samples::one_layer(), {}).total();
    EXPECT_EQ(count_parameters(with_further(3)).total,
              count_parameters(samples::one_layer()).total + 3 * (layer + 512 + 32));
    ModelSpec experts = with_further(1);
    experts.layers = 2;
    experts.experts = {.count = 4, .per_token = 1, .d_ff = 8, .first_dense = 1};
    EXPECT_TRUE(layer_kind(experts, 2).experts);
    EXPECT_EQ(count_parameters(experts).mtp,
              count_layer(experts, {.experts = true}).total() + 512 + 32);
}

}  // namespace
}  // namespace podsim::workloads
