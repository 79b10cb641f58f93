// True needs of operations, independent of their order:
// the chain's order respects them, and they claim no more.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::any_plan;
using samples::before_all;
using samples::find_op;
using samples::Random;
using ::testing::Contains;
using ::testing::Not;

/// True if the present order does not wait for a need of the operation. The known cases are:
/// - a tensor that an overlapped matmul makes goes to the host before all its parts (`qkv 2/2`) and
///   the ring steps that add to it have ended;
/// - a collective before a use's first compute does not wait for tensors on their way back from the
///   host;
/// - the AllReduce over data of sums over microbatches waits only for the last microbatch's
///   ReduceScatter, and the exchange of a tied table's gradients only for the reductions for which
///   no compute has waited.
bool known_gap(const StepProgram& program, const Op& op, OpIndex need) {
    if (std::holds_alternative<HostTransfer>(op.work)) {
        return std::holds_alternative<Collective>(program.ops[need].work) ||
               program.ops[need].name.find('/') != std::string::npos;
    }
    const auto* reduced = std::get_if<Collective>(&program.ops[need].work);
    const bool gradients = reduced != nullptr && reduced->purpose == Purpose::gradients;
    const auto* collective = std::get_if<Collective>(&op.work);
    if (collective == nullptr) {
        return op.name.ends_with("embedding backward send gradients");
    }
    return std::holds_alternative<HostTransfer>(program.ops[need].work) ||
           (gradients && collective->purpose == Purpose::gradients &&
            reduced->operation == collectives::Operation::reduce_scatter);
}

TEST(Needs, AreKeptByTheOrderOfTheChain) {
    std::size_t needs = 0;
    std::size_t gaps = 0;
    for (std::uint64_t seed = 0; seed < 250; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model;
        const TrainingPlan plan = any_plan(random, model);
        for (const StepProgram& program : build_stages(model, plan).programs) {
            const auto before = before_all(program, &Op::after);
            for (std::size_t i = 0; i < program.ops.size(); ++i) {
                const Op& op = program.ops[i];
                ASSERT_TRUE(std::ranges::is_sorted(op.needs, std::ranges::less_equal{}));
                ASSERT_TRUE(std::ranges::is_sorted(op.limits, std::ranges::less_equal{}));
                for (const OpIndex limit : op.limits) {
                    ASSERT_TRUE(before[i][limit]) << op.name;
                    ASSERT_FALSE(std::ranges::binary_search(op.needs, limit)) << op.name;
                }
                for (const OpIndex need : op.needs) {
                    ++needs;
                    ASSERT_LT(need, i) << op.name;
                    if (!before[i][need]) {
                        ++gaps;
                        ASSERT_TRUE(known_gap(program, op, need))
                            << op.name << " needs " << program.ops[need].name;
                    }
                }
            }
        }
    }
    EXPECT_GT(needs, 100000U);
    EXPECT_LT(gaps, needs / 100);
}

/// True if an operation reads only parameters, tokens or messages, which no other has made.
bool is_source(const Op& op) {
    if (const auto* collective = std::get_if<Collective>(&op.work)) {
        return collective->purpose == Purpose::weights && op.pass != Pass::optimizer;
    }
    return std::holds_alternative<Handover>(op.work) || op.name.ends_with("lookup");
}

// Every collective names the producer of its array; only gathers of weights,
// look-ups and messages come from outside. Every result is needed, except
// results that leave the program (stores, messages, steps that pass on) and
// the end of a block that is wholly recomputed, which nothing reads.
TEST(Needs, NameAProducerAndAReaderOfEverything) {
    for (std::uint64_t seed = 0; seed < 250; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model;
        const TrainingPlan plan = any_plan(random, model);
        for (const StepProgram& program : build_stages(model, plan).programs) {
            std::vector<bool> read(program.ops.size());
            for (const Op& op : program.ops) {
                for (const OpIndex need : op.needs) {
                    read[need] = true;
                }
                EXPECT_TRUE(is_source(op) || !op.needs.empty()) << op.name;
            }
            for (std::size_t i = 0; i < program.ops.size(); ++i) {
                const Op& op = program.ops[i];
                const auto* collective = std::get_if<Collective>(&op.work);
                const bool leaves =
                    op.pass == Pass::optimizer || plan.forward_only ||
                    (op.pass == Pass::recompute && plan.remat.policy == RematPolicy::block) ||
                    std::holds_alternative<HostTransfer>(op.work) ||
                    std::holds_alternative<Handover>(op.work) ||
                    (collective != nullptr && collective->step.has_value());
                EXPECT_TRUE(leaves || read[i]) << op.name << " is read by nothing";
            }
        }
    }
}

/// Two layers on tensor 2 x fsdp 2 x data 2.
struct TwoLayers {
    TwoLayers() {
        model.layers = 2;
        plan = samples::one_chip();
        plan.ways.tensor = plan.ways.fsdp = plan.ways.data = 2;
        plan.batch.tokens = 128;
    }
    void build() { program = build_step(model, plan); }
    [[nodiscard]] std::vector<std::string> needs(const std::string& name) const {
        std::vector<std::string> names;
        for (const OpIndex need : program.ops[find_op(program, name)].needs) {
            names.push_back(program.ops[need].name);
        }
        return names;
    }
    [[nodiscard]] bool waits(const std::string& later, const std::string& earlier) const {
        return before_all(program, &Op::needs)[find_op(program, later)][find_op(program, earlier)];
    }
    ModelSpec model = samples::one_layer();
    TrainingPlan plan;
    StepProgram program;
};

TEST(Needs, OfALayerForwardAreItsEquations) {
    TwoLayers two;
    two.build();
    using ::testing::ElementsAre;
    const std::string f = "layer 1 forward ";
    EXPECT_THAT(two.needs(f + "gather weights"), ElementsAre());
    EXPECT_THAT(two.needs(f + "gather attention input"),
                ElementsAre("layer 0 forward scatter mlp output"));
    EXPECT_THAT(two.needs(f + "qkv"),
                ElementsAre(f + "gather weights", f + "gather attention input"));
    EXPECT_THAT(two.needs(f + "attention"), ElementsAre(f + "qkv"));
    EXPECT_THAT(two.needs(f + "out"), ElementsAre(f + "gather weights", f + "attention"));
    EXPECT_THAT(two.needs(f + "scatter attention output"), ElementsAre(f + "out"));
    EXPECT_THAT(two.needs(f + "gather mlp input"), ElementsAre(f + "scatter attention output"));
    EXPECT_THAT(two.needs(f + "down"), ElementsAre(f + "gather weights", f + "gate_up"));
    EXPECT_THAT(two.needs("unembedding forward loss"),
                ElementsAre("unembedding forward logits", "unembedding forward reduce softmax"));
}

// A weight's gradient overlaps with the ReduceScatter of its input's gradient; the gathers of a
// block overlap with each other.
TEST(Needs, OfALayerBackwardLeaveRoomToOverlap) {
    TwoLayers two;
    two.build();
    using ::testing::ElementsAre;
    const std::string b = "layer 1 backward ";
    const std::string f = "layer 1 forward ";
    EXPECT_THAT(two.needs(b + "gate_up weight gradient"),
                ElementsAre(b + "down input gradient", b + "gather mlp input"));
    EXPECT_THAT(two.needs(b + "gather mlp input"), ElementsAre(f + "scatter attention output"));
    for (const auto& [later, earlier] : std::vector<std::pair<std::string, std::string>>{
             {"gate_up weight gradient", "scatter mlp input gradient"},
             {"gate_up weight gradient", "gate_up input gradient"},
             {"qkv weight gradient", "scatter attention input gradient"},
             {"gather mlp input", "gather mlp output gradient"},
             {"gather attention input", "gather attention output gradient"},
             {"down weight gradient", "gather mlp input"},
             {"gate_up input gradient", "down weight gradient"},
             {"attention gradient", "out weight gradient"}}) {
        EXPECT_FALSE(two.waits(b + later, b + earlier)) << later << " after " << earlier;
    }
    // These read saved tensors.
    EXPECT_THAT(two.needs(b + "attention gradient"),
                ElementsAre(f + "qkv", f + "attention", b + "out input gradient"));
    EXPECT_THAT(two.needs(b + "down weight gradient"),
                ElementsAre(f + "gate_up", b + "gather mlp output gradient"));
    EXPECT_THAT(two.needs(b + "gather attention output gradient"),
                ElementsAre(b + "scatter mlp input gradient"));
    EXPECT_THAT(two.needs("layer 0 backward gather mlp output gradient"),
                ElementsAre(b + "scatter attention input gradient"));
}

TEST(Needs, RecomputationAndOffloadingBringWhatIsRead) {
    TwoLayers two;
    two.plan.remat.policy = RematPolicy::block;
    two.build();
    using ::testing::ElementsAre;
    EXPECT_THAT(two.needs("layer 1 recompute gather attention input"),
                ElementsAre("layer 0 forward scatter mlp output"));
    EXPECT_THAT(
        two.needs("layer 1 backward down weight gradient"),
        ElementsAre("layer 1 recompute gate_up", "layer 1 backward gather mlp output gradient"));
    two.plan.remat.policy = RematPolicy::named;
    two.plan.remat.names.offload.add(LayerTensor::qkv);
    two.build();
    EXPECT_THAT(two.needs("layer 1 forward offload qkv_proj"), ElementsAre("layer 1 forward qkv"));
    EXPECT_THAT(two.needs("layer 1 backward fetch qkv_proj"),
                ElementsAre("layer 1 forward offload qkv_proj"));
    EXPECT_THAT(two.needs("layer 1 backward attention gradient"),
                Contains("layer 1 backward fetch qkv_proj"));
    EXPECT_THAT(two.needs("layer 1 backward attention gradient"),
                Not(Contains("layer 1 forward qkv")));
}

TEST(Needs, OfReductionsAreAllThatWrote) {
    TwoLayers two;
    two.build();
    const std::string b = "layer 1 backward ";
    using ::testing::ElementsAre;
    EXPECT_THAT(two.needs(b + "reduce-scatter gradients"),
                ElementsAre(b + "down weight gradient", b + "gate_up weight gradient",
                            b + "out weight gradient", b + "qkv weight gradient"));
    EXPECT_THAT(two.needs(b + "all-reduce gradients"), ElementsAre(b + "reduce-scatter gradients"));
    EXPECT_THAT(two.needs("optimizer update"),
                ElementsAre("unembedding backward all-reduce gradients", b + "all-reduce gradients",
                            "layer 0 backward all-reduce gradients",
                            "embedding backward all-reduce gradients"));
    // Over microbatches sums of shards are reduced once, and whole gradients are added in order.
    two.plan.batch.microbatches = 2;
    two.plan.batch.tokens *= 2;
    two.build();
    EXPECT_THAT(two.needs("microbatch 1 " + b + "all-reduce gradients"),
                ElementsAre("microbatch 0 " + b + "reduce-scatter gradients",
                            "microbatch 1 " + b + "reduce-scatter gradients"));
    two.plan.ways.fsdp = 1;
    two.plan.batch.tokens /= 2;
    two.build();
    EXPECT_THAT(two.needs("microbatch 1 " + b + "out weight gradient"),
                Contains("microbatch 0 " + b + "out weight gradient"));
}

// With tensor parallelism of 2 a part needs the step that brings its own rows, and a step of the
// scatter needs the part that it sends.
TEST(Needs, OfOverlappedMatmulsArePartByPart) {
    TwoLayers two;
    two.plan.overlap.tensor_steps = samples::ring(2, false);
    two.build();
    using ::testing::ElementsAre;
    const std::string f = "layer 1 forward ";
    EXPECT_THAT(two.needs(f + "qkv 1/2"),
                ElementsAre(f + "gather weights", "layer 0 forward scatter down step 1",
                            "layer 0 forward down 2/2"));
    EXPECT_THAT(two.needs(f + "qkv 2/2"),
                ElementsAre(f + "gather weights", f + "gather attention input step 1"));
    EXPECT_THAT(two.needs(f + "attention"), ElementsAre(f + "qkv 1/2", f + "qkv 2/2"));
    EXPECT_THAT(two.needs(f + "scatter out step 1"), ElementsAre(f + "out 1/2"));
    EXPECT_THAT(two.needs("layer 1 backward gate_up weight gradient"),
                Contains("layer 1 backward gather mlp input"));
}

}  // namespace
}  // namespace podsim::workloads
