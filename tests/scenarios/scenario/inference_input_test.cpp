// Refusals of `inference:`, with message and position.
#include <fmt/format.h>

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

/// A decode step has one new token of a sequence, with or without a cache; a server decodes.
TEST_F(InferenceInput, SplitsPromptsAlone) {
    const std::string refused =
        "s.yaml:3:28: context = 4 splits the prompts of a prefill alone; use the axis as tensor, "
        "cache or data\n";
    const std::string mesh = "mesh: {tensor: x, context: y}\n";
    EXPECT_EQ(error_of(mesh + "inference: {step: decode, batch: 8, context: 100}\n"), refused);
    EXPECT_EQ(error_of(mesh + "inference: {step: decode, batch: 8, context: 0}\n"), refused);
}

/// Even a value that is not a map says that requests are served: neither a step nor a training
/// batch is missing.
TEST_F(InferenceInput, OfServingThatIsNoMapIsSaidAlone) {
    const std::string refused =
        "'serving' holds text; write serving: {rate: 4 requests/s, "
        "requests: 1000, prompt: 1024, output: 256, slots: 64}\n";
    EXPECT_EQ(error_of("inference: {weights: int8}\nserving: 4\n"), "s.yaml:4:10: " + refused);
    EXPECT_EQ(error_of("serving: 4\n"), "s.yaml:3:10: " + refused);
}

/// A server's steps are the loop's. The message was once "1 sequence for 4 microbatches", which
/// nobody had written.
TEST_F(InferenceInput, OfServingHasNoMicrobatches) {
    const std::string file = write(
        "hardware: {chip: v5e, slice: 4x4}\n"
        "model: llama-3-8b\n"
        "mesh: {tensor: x, pipeline: y}\n"
        "inference: {microbatches: 4}\n"
        "serving: {rate: 1 requests/s, requests: 3, prompt: 8, output: 2, slots: 4}\n");
    EXPECT_EQ(plain(podsim({"serve", file}).err),
              "s.yaml:4:27: inference.microbatches: serving plays a pipeline with one batch in "
              "flight, stage after stage; leave it out\n");
    EXPECT_EQ(podsim({"serve", file, "--set", "inference={}"}).status, 0);
}

/// With generate 100 tokens of the prompt and 4 of 5 are cached, for nothing follows the last.
TEST_F(InferenceInput, NamesTheKeyThatWasWritten) {
    EXPECT_EQ(error_of("inference: {step: decode, batch: 0, context: 100}\n"),
              "s.yaml:3:34: inference.batch: '0' is out of range; allowed: 1 to 16777216\n");
    EXPECT_EQ(error_of("inference: {step: decode, batch: 1e12, context: 100}\n"),
              "s.yaml:3:34: inference.batch: '1e12' is out of range; allowed: 1 to 16777216\n");
    EXPECT_EQ(error_of("inference: {step: prefill, prompt: 0}\n"),
              "s.yaml:3:36: inference.prompt: '0' is out of range; allowed: 1 to 1099511627776\n");
    EXPECT_EQ(error_of("inference: {step: prefill, batch: 16Mi, prompt: 100Ki}\n"),
              "s.yaml:3:35: inference.batch: 16777216 sequences of 102400 tokens are more than a "
              "step can have; write at most 10737418\n");
    EXPECT_EQ(error_of("inference: {step: decode, batch: 8, context: 100, reserve: 100}\n"),
              "s.yaml:3:60: inference.reserve: room for 100 tokens of a sequence, which reaches "
              "101; write at least as many, or leave it out\n");
    EXPECT_EQ(error_of("inference: {step: decode, batch: 8, context: 100, microbatches: 2}\n"),
              "s.yaml:3:65: inference.microbatches: microbatches without a pipeline; leave it out, "
              "or add the axis pipeline\n");
    EXPECT_EQ(
        error_of("inference: {step: decode, batch: 8, context: 100, cache_split: sequence}\n"),
        "s.yaml:3:64: inference.cache_split: the cache is not split over an axis of its own; leave "
        "it out, or add the axis cache\n");
    EXPECT_EQ(error_of("inference: {step: generate, prompt: 100, generate: 5, reserve: 103}\n"),
              "s.yaml:3:64: inference.reserve: room for 103 tokens of a sequence, which reaches "
              "104; write at least as many, or leave it out\n");
}

/// GPT-3 has 2048 positions. The last of 100 tokens behind a prompt of 2048 is no step's input:
/// 2048 + 99; with one token nothing follows the prompt.
TEST_F(InferenceInput, OfSequencesPastTheModelsPositionsIsRefused) {
    const auto said = [&](const std::string& command, const std::string& rest) {
        return plain(podsim({command, write("hardware: {chip: v5e, slice: 8x8}\n"
                                            "model: gpt-3-175b\n"
                                            "mesh: {tensor: x, pipeline: y}\n" +
                                            rest)})
                         .err);
    };
    const auto generate = [&](int tokens) {
        return said(
            "check",
            fmt::format("inference: {{step: generate, prompt: 2048, generate: {}}}\n", tokens));
    };
    EXPECT_EQ(generate(1), "");
    EXPECT_EQ(generate(100),
              "s.yaml:4:53: a sequence of 2147 tokens, but gpt-3-175b has 2048 positions; shorten "
              "it\n");
    EXPECT_EQ(said("check", "inference: {step: prefill, prompt: 2049}\n"),
              "s.yaml:4:12: a sequence of 2049 tokens, but gpt-3-175b has 2048 positions; shorten "
              "it\n");
    const auto serve = [&](int prompt) {
        return said("check", fmt::format("inference: {{}}\n"
                                         "serving: {{rate: 1 requests/s, requests: 3, prompt: {}, "
                                         "output: 100, slots: 1}}\n",
                                         prompt));
    };
    EXPECT_EQ(serve(1949), "");
    EXPECT_EQ(serve(1950),
              "s.yaml:5:52: serving.prompt: a request of 1950 + 100 tokens is a sequence of 2049 "
              "tokens, but gpt-3-175b has 2048 positions; shorten it\n");
}

/// Blocks belong to the kernel over pages, which has all keys and values of its sequences.
TEST_F(InferenceInput, OfBlocksIsRefusedWhereTheKernelHasNone) {
    const std::string blocks = "attention_blocks: {q: 128, kv: 2048}}\n";
    EXPECT_EQ(error_of("inference: {step: prefill, prompt: 100, attention: dense, " + blocks),
              "s.yaml:3:77: inference.attention_blocks: dense attention has no blocks; leave it "
              "out, or write attention: paged\n");
    EXPECT_EQ(error_of("mesh: {tensor: x, cache: y}\n"
                       "inference: {step: prefill, prompt: 100, " +
                       blocks),
              "s.yaml:4:59: inference.attention_blocks: blocks are those of a kernel that has all "
              "keys of its sequences; leave it out, or the axes cache and context\n");
    EXPECT_EQ(error_of("inference: {step: prefill, prompt: 100, attention_blocks: {q: 128}}\n"),
              "s.yaml:3:59: missing key 'inference.attention_blocks.kv'; write kv: 2048 (keys of a "
              "block)\n");
    EXPECT_EQ(
        error_of("inference: {step: generate, prompt: 100, generate: 4, loop: device, "
                 "scheduling: async}\n"),
        "s.yaml:3:81: inference.scheduling: a loop on the device asks its host once; leave it "
        "out, or write loop: host\n");
}

/// A quantity that a step does not have was once judged as 0.
TEST_F(InferenceInput, ExpectsOfTokensWhatTheStepHas) {
    const std::string expect = "expect: {time_per_token: {of: 5 ms, within: 1 %}}\n";
    const std::string none =
        "s.yaml:4:26: expect.time_per_token: no token of a sequence follows another in this step; "
        "expect it of decode, or of generating several tokens\n";
    EXPECT_EQ(error_of("inference: {step: prefill, prompt: 100}\n" + expect), none);
    EXPECT_EQ(error_of("inference: {step: generate, prompt: 100, generate: 1}\n" + expect), none);
    EXPECT_EQ(error_of("batch: {tokens: 64Ki, sequence: 4096}\n" + expect), none);
    EXPECT_EQ(error_of("inference: {step: generate, prompt: 100, generate: 2}\n" + expect), "");
    EXPECT_EQ(error_of("inference: {step: decode, batch: 8, context: 100, draft: 2}\n" + expect),
              "");
    EXPECT_EQ(error_of("batch: {tokens: 64Ki, sequence: 4096}\n"
                       "expect: {tokens_per_s_per_chip: {of: 100, within: 1 %}}\n"),
              "s.yaml:4:33: expect.tokens_per_s_per_chip: the scenario is no step of inference; "
              "write inference: {step: decode, ...}\n");
}

TEST_F(InferenceInput, RingStepsAreRefusedWhereTheyAreSaid) {
    const std::string decode = "inference: {step: decode, batch: 8, context: 100}\n";
    const std::string refused =
        "ring steps between parts of a matmul or of attention, in inference; leave it out: podsim "
        "has them in training alone\n";
    EXPECT_EQ(error_of(decode + "overlap: {prefetch_layers: 1, tensor: two-way}\n"),
              "s.yaml:4:39: " + refused);
    EXPECT_EQ(error_of("mesh: {tensor: x, context: y}\n"
                       "inference: {step: prefill, prompt: 4096}\n"
                       "overlap: {prefetch_layers: 1, context: ring}\n"),
              "s.yaml:5:40: " + refused);
}

TEST_F(InferenceInput, TrainsOnNoTokens) {
    EXPECT_EQ(error_of("inference: {step: decode, batch: 8, context: 100}\n"
                       "report: {tokens: 1T, price: 1 USD/chip-hour}\n"),
              "s.yaml:4:18: report.tokens: inference trains on no tokens; leave it out\n");
}

/// Sparse experts process all tokens that arrive; one chip's experts have their given loads; a
/// gradient is one of two kinds.
TEST_F(InferenceInput, OfExpertsIsRefusedWhereItSaysNothing) {
    const std::string mixtral = "hardware: {chip: v5p, slice: 4x4x4}\nmodel: mixtral-8x7b\n";
    expect_refused(
        mixtral +
            "inference: {step: decode, batch: 64, context: 100, moe: {matmul: sparse}, "
            "capacity_factor: 2}\n",
        "s.yaml:3:92: inference.capacity_factor: capacity_factor of sparse experts, which "
        "take what comes; leave it out, or write moe: {matmul: ideal}");
    expect_refused(
        mixtral +
            "mesh: {tensor: x y, data: z}\n"
            "inference: {step: decode, batch: 64, context: 100, moe: {split: experts}}\n",
        "s.yaml:4:65: inference.moe.split: 8 experts on 16 tensor ways; write split: "
        "columns, or ways that divide the experts");
    expect_refused(
        mixtral +
            "mesh: {tensor: x, expert: y, data: z}\n"
            "inference: {step: decode, batch: 64, context: 100, moe: {split: experts}}\n",
        "s.yaml:4:65: inference.moe.split: members of the axis expert have whole experts "
        "already; leave it out, or the axis");
    const std::string training = mixtral + "batch: {tokens: 256Ki, sequence: 4096}\n";
    expect_refused(
        training +
            "mesh: {fsdp: x y, expert: z}\n"
            "training: {capacity_factor: 2, moe: {matmul: sparse}}\n",
        "s.yaml:5:29: training.capacity_factor: capacity_factor of sparse experts, which "
        "take what comes; leave it out, or write moe: {matmul: dense}");
    expect_refused(
        training +
            "mesh: {fsdp: x y, expert: z}\n"
            "training: {moe: {matmul: sparse, sort_vjp: maybe}}\n",
        "s.yaml:5:44: unknown training.moe.sort_vjp 'maybe'; allowed: custom, scatter-add");
    expect_refused(
        training + "mesh: {fsdp: x y z}\ntraining: {expert_imbalance: 2}\n",
        "s.yaml:5:30: expert_imbalance with expert = 1: every chip has all experts; leave "
        "it out, or add the axis expert");
}

}  // namespace
}  // namespace podsim::scenarios
