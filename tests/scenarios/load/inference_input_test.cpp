// What is refused of `inference:`, with its message and its place.
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class InferenceInput : public CommandTest {
protected:
    std::string error_of(const std::string& rest) {
        return plain(podsim({"run", write("hardware: {chip: v5e, slice: 4x4}\n"
                                          "model: llama-3-8b\n" +
                                          rest)})
                         .err);
    }
};

TEST_F(InferenceInput, IsRefusedAtItsPlace) {
    EXPECT_EQ(error_of("inference: {step: decode, batch: 8, context: 100, prompt: 5}\n"),
              "s.yaml:3:59: inference.prompt: a decode step has no prompt; write the tokens before "
              "it as inference.context\n");
    EXPECT_EQ(
        error_of("inference: {step: generate, prompt: 100, generate: 20000}\n"),
        "s.yaml:3:52: generate = 20000 steps of 32 layers are more than one program can hold; "
        "at most 12500 tokens; podsim serve plays longer answers step by step\n");
    EXPECT_EQ(error_of("mesh: {tensor: x, cache: y}\n"
                       "batch: {tokens: 32Ki, sequence: 2048}\n"),
              "s.yaml:3:26: cache = 4 in training, which has no cache; use the axis as tensor\n");
    EXPECT_EQ(error_of("mesh: {tensor: x, context: y}\n"
                       "inference: {step: generate, prompt: 2048, generate: 4}\n"),
              "s.yaml:3:28: context = 4 splits the prompts of a prefill alone; use the axis as "
              "tensor, cache or data\n");
}

}  // namespace
}  // namespace podsim::scenarios
