// The front of a sweep of decode steps: settings that no other of the same load beats in both time
// per token and tokens a second.
#include "scenarios/src/study/sweep.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ParetoCommand = CommandTest;

/// Returns the first two cells of the table's rows that end in `front`.
std::vector<std::string> front_of(const std::string& table) {
    std::vector<std::string> front;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream cells(line);
        std::string first;
        std::string second;
        cells >> first >> second;
        if (line.ends_with(", front")) {
            front.push_back(first + ' ' + second);
        }
    }
    return front;
}

// More sequences take longer and serve more: each is on the front of its context, unless it does
// not fit. A second slice of chips that does nothing faster for a sequence is beaten.
TEST_F(ParetoCommand, MarksWhatNoOtherBeatsAtTheSameContext) {
    const std::string file = write(
        "hardware: {chip: v5e, slice: 4x2, profile: ideal}\n"
        "model: llama-3-8b\n"
        "inference: {step: decode, batch: 8, context: 2048}\n");
    const Outcome sweep = podsim({"sweep", file, "--vary", "inference.batch=8,64,4096", "--vary",
                                  "inference.context=2048,8192"});
    ASSERT_EQ(sweep.status, 0) << sweep.err;
    EXPECT_EQ(front_of(sweep.out),
              (std::vector<std::string>{"8 2048", "8 8192", "64 2048", "64 8192"}));
}

TEST_F(ParetoCommand, ASlowerShardingIsNotOnIt) {
    const std::string file = write(
        "hardware: {chip: v5e, slice: 4x2, profile: ideal}\n"
        "model: llama-3-8b\n"
        "inference: {step: decode, batch: 64, context: 8192}\n");
    // Eight heads of keys on eight chips, or each chip with a fraction of the batch and
    // all weights.
    const Outcome sweep = podsim({"sweep", file, "--vary", "mesh=[{tensor: x y}, {data: x y}]"});
    ASSERT_EQ(sweep.status, 0) << sweep.err;
    EXPECT_EQ(front_of(sweep.out).size(), 1U) << sweep.out;
}

TEST_F(ParetoCommand, TrainingHasNone) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x2}\n"
        "model: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 32Ki, sequence: 4096}\n");
    const Outcome sweep = podsim({"sweep", file, "--vary", "batch.tokens=32Ki,64Ki"});
    ASSERT_EQ(sweep.status, 0) << sweep.err;
    EXPECT_TRUE(front_of(sweep.out).empty());
}

}  // namespace
}  // namespace podsim::scenarios
