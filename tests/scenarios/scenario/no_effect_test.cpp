// Settings that would have no effect in their scenario are refused, each with the missing
// condition; verbatim.
#include <gtest/gtest.h>
#include <string>

#include "scenarios/src/scenario/load.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using NoEffect = CommandTest;

std::string training(const std::string& settings) {
    return std::string(kGood) + "training: {" + settings + "}\n";
}

std::string overlap(const std::string& settings) {
    return std::string(kGood) + "overlap: {" + settings + "}\n";
}

/// Mixtral without an expert axis.
std::string experts(const std::string& settings) {
    return good_but("llama-3-8b", "mixtral-8x7b") + "training: {" + settings + "}\n";
}

TEST_F(NoEffect, PlacementOfSequencesThatAreWhole) {
    expect_refused(
        training("placement: plain"),
        "s.yaml:5:23: placement of a sequence's parts, but context = 1: it has one part; "
        "leave it out, or add the axis context");
    expect_refused(
        good_but("fsdp: x y z", "fsdp: x y, context: z") +
            "training: {attention: full, placement: plain}\n",
        "s.yaml:5:40: placement of a sequence's parts with full attention, of which all parts have "
        "the same work; leave it out, or write attention: causal");
}

TEST_F(NoEffect, LoadsOfExpertsThatAreNotSpread) {
    const std::string one_rank =
        "expert_imbalance with expert = 1: every chip has all experts; leave it out, or add the "
        "axis expert";
    expect_refused(experts("expert_imbalance: 1.5"), "s.yaml:5:30: " + one_rank);
    expect_refused(experts("expert_imbalance: [1]"), "s.yaml:5:30: " + one_rank);
    expect_refused(experts("expert_imbalance: []"),
                   "s.yaml:5:30: training.expert_imbalance: the list is empty; write a share for "
                   "each rank of the axis expert, as in [4, 2, 1, 1]");
    expect_refused(
        training("expert_imbalance: [1, 1]"),
        "s.yaml:5:30: expert_imbalance of llama-3-8b, which has no experts; leave it out");
    expect_refused(
        training("expert_imbalance: 1.5"),
        "s.yaml:5:30: expert_imbalance = 1.5, but llama-3-8b has no experts; leave it out");
    expect_refused(
        training("capacity_factor: 1.25"),
        "s.yaml:5:29: capacity_factor = 1.25, but llama-3-8b has no experts; leave it out");
}

TEST_F(NoEffect, FormsOfAxesOfOneMemberAreAcceptedForSweepsOfMeshes) {
    for (const std::string form : {"tensor: two-way", "context: ring"}) {
        EXPECT_EQ(podsim({"run", write(overlap(form))}).status, 0) << form;
    }
}

TEST_F(NoEffect, MomentsOfSgdAreRefusedButForTheDefault) {
    EXPECT_EQ(podsim({"run", write(training("optimizer: sgd, moments: fp32"))}).status, 0);
}

TEST_F(NoEffect, StateThatIsNotThere) {
    expect_refused(training("optimizer: lion, moments: [bf16, fp32]"),
                   "s.yaml:5:38: training.moments: 2 dtypes, and Lion has 1 moment; write one "
                   "dtype for all, or one for each");
    expect_refused(training("optimizer: sgd, moments: bf16"),
                   "s.yaml:5:37: training.moments: SGD keeps no moments; leave it out");
    expect_refused(training("zero: 1"),
                   "s.yaml:5:18: zero = 1 shards over data, but data = 1; leave it out; fsdp is "
                   "ZeRO-3 already");
}

// A setting with an effect in every step may be written at its default.
TEST_F(NoEffect, DefaultsMayBeWritten) {
    for (const std::string& text :
         {training("placement: zig-zag, schedule: 1f1b, chunks: 1, zero: 0, capacity_factor: 1, "
                   "expert_imbalance: 1"),
          overlap("tensor: blocking, context: gathered"), experts("expert_imbalance: 1")}) {
        EXPECT_NO_THROW(static_cast<void>(load_scenario(write(text)))) << text;
    }
}

}  // namespace
}  // namespace podsim::scenarios
