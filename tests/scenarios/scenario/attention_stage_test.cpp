// `do: attention` in a program: a flash kernel alone, against hand calculation, and its refusals.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class AttentionStage : public CommandTest {
protected:
    [[nodiscard]] Scenario load(const std::string& hardware, const std::string& keys) const {
        return load_scenario(write("hardware: {" + hardware +
                                   "}\nprogram:\n  stages:\n    - {do: attention, " + keys +
                                   "}\n"));
    }
    [[nodiscard]] double seconds(const std::string& hardware, const std::string& keys) const {
        const Scenario scenario = load(hardware, keys);
        return simulate_program(scenario.hardware, scenario.program(), Fold::automatic)
            .time.seconds();
    }
    std::string error_of(const std::string& keys, const std::string& before = "") {
        return plain(
            podsim({"run", write("hardware: {chip: v5p, slice: 2x2x1}\nprogram:\n" + before +
                                 "  stages:\n    - {do: attention, " + keys + "}\n")})
                .err);
    }
};

const workloads::Compute& work_of(const Scenario& scenario) {
    return std::get<StageCompute>(scenario.program().stages.front().work).work;
}

// 3 sequences of 100 tokens, 8 heads of 64 + 96 columns, 2 of keys. Causal pairs are half of the
// square: 2 (64 + 96) FLOPs a pair. Queries and both of keys and values are read once, outputs
// written. The backward pass in one kernel recomputes scores: S and dQ, dK of 64, dV and dP of
// 96 columns.
TEST_F(AttentionStage, IsTheWorkOfALayersKernel) {
    const std::string keys =
        "heads: 8, kv_heads: 2, head_dim: 64, value_dim: 96, sequence: 100, sequences: 3, "
        "attention_blocks: none";
    const double pairs = 3.0 * 8 * 100 * 100 / 2;
    const Scenario forward = load("chip: v5p, slice: 2x2x1", keys);
    EXPECT_DOUBLE_EQ(work_of(forward).flops.value(), 2 * (64 + 96) * pairs);
    EXPECT_DOUBLE_EQ(work_of(forward).hbm.value(), 300.0 * (8 * 160 + 2 * 160) * 2);
    const Scenario backward =
        load("chip: v5p, slice: 2x2x1", keys + ", pass: backward, attention_backward: fused");
    EXPECT_DOUBLE_EQ(work_of(backward).flops.value(), 2 * (3 * 64 + 2 * 96) * pairs);
    const Scenario full = load("chip: v5p, slice: 2x2x1", keys + ", attention: full");
    EXPECT_DOUBLE_EQ(work_of(full).flops.value(), 2 * (64 + 96) * 3.0 * 8 * 100 * 100);
}

// 4 x 4 blocks of 2048, of which 10 are computed; columns of 128 fill half of an array of 256.
// Every FLOP runs at `attention` of the peak, and the softmax beneath it, for any `fusion`: 7
// operations a score at 14.3 T/s are 0.49 ms a TFLOP, of 0.87.
TEST_F(AttentionStage, TakesItsBlocksAtTheShareOfTheProfile) {
    const std::string keys =
        "heads: 32, kv_heads: 8, head_dim: 128, sequence: 8192, sequences: 2, "
        "attention_blocks: 2048";
    const double executed = 2.0 * (256 + 256) * 32 * 2 * 10 * 2048 * 2048;
    for (const double fusion : {0.0, 1.0}) {
        EXPECT_NEAR(seconds(fmt::format("chip: tpu7x, slice: 1x1x1, profile: {{base: ideal, "
                                        "attention: 0.5, fusion: {}}}",
                                        fusion),
                            keys),
                    executed / (0.5 * 2307e12), 2e-12);
    }
}

// For 4096 tokens in blocks of 512 the mask leaves 8 x 9 / 2 = 36 of 64 a head, in blocks of 1024
// 4 x 5 / 2 = 10: for 2 sequences and 8 heads, on two cores of v5p, each with `grid_step_s` beside
// its scores. Two kernels of the backward pass take theirs one after the other. Without blocks all
// queries of a head are in half a core's VMEM, and read 8 blocks of 512 keys.
TEST_F(AttentionStage, EveryStepOfItsGridTakesItsTime) {
    const std::string keys = "heads: 8, kv_heads: 8, head_dim: 128, sequence: 4096, sequences: 2, ";
    const auto more = [&](const std::string& blocks, const char* chip = "v5p") {
        const auto with = [&](const char* step) {
            return seconds(fmt::format("chip: {}, slice: 2x2, profile: {{base: ideal, attention: "
                                       "0.5, grid_step_s: {}}}",
                                       chip, step),
                           keys + blocks);
        };
        return with("1e-6") - with("0");
    };
    EXPECT_NEAR(more("attention_blocks: 512"), 2 * 8 * 36 / 2 * 1e-6, 2e-12);
    EXPECT_NEAR(more("attention_blocks: 512", "v6e"), 2 * 8 * 36 * 1e-6, 2e-12);
    EXPECT_NEAR(more("attention_blocks: 512, attention: full"), 2 * 8 * 64 / 2 * 1e-6, 2e-12);
    const std::string back = "pass: backward, attention_backward: ";
    const std::string blocks = ", attention_blocks: 1024";
    EXPECT_NEAR(more(back + "fused" + blocks), 2 * 8 * 10 / 2 * 1e-6, 2e-12);
    EXPECT_NEAR(more(back + "split" + blocks), 2 * 8 * (10 + 10) / 2 * 1e-6, 2e-12);
    EXPECT_NEAR(more("attention_blocks: none"), 2 * 8 * 8 / 2 * 1e-6, 2e-12);
}

TEST_F(AttentionStage, IsRefusedAtItsPlace) {
    EXPECT_EQ(
        error_of("heads: 8, kv_heads: 3, head_dim: 64, sequence: 100"),
        "s.yaml:4:43: program.stages.kv_heads: 8 heads of queries do not divide among 3; write "
        "a divisor of heads\n");
    EXPECT_EQ(error_of("heads: 8, head_dim: 64, sequence: 100, m: 8"),
              "s.yaml:4:65: program.stages.m: attention has no such key; it has heads, kv_heads, "
              "head_dim, value_dim, sequence, sequences, pass, attention, attention_backward, "
              "attention_blocks\n");
    EXPECT_EQ(error_of("heads: 8, head_dim: 64"),
              "s.yaml:4:7: missing key 'program.stages.sequence'; write sequence: 8192 (of "
              "attention: tokens of a sequence)\n");
    EXPECT_EQ(
        error_of("heads: 8, head_dim: 64, sequence: 100", "  pieces: 4\n"),
        "s.yaml:5:12: program.stages.do: a kernel does not go with pieces; write pieces: 1\n");
    EXPECT_EQ(error_of("heads: 8, head_dim: 64, sequence: 100, attention_blocks: {q: 512}"),
              "s.yaml:4:80: 'program.stages.attention_blocks' holds a map; write attention_blocks: "
              "2048\n");
    EXPECT_EQ(
        error_of("heads: 8, head_dim: 64, sequence: 100, attention_backward: book, "
                 "attention_blocks: 512"),
        "s.yaml:4:106: program.stages.attention_blocks: blocks with attention_backward: book, "
        "which counts what the mask leaves; leave it out, or write attention_backward: split\n");
}

}  // namespace
}  // namespace podsim::scenarios
