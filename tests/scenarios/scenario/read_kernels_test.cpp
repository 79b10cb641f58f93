// Keys on the computation of attention and experts: defaults, values, refusals verbatim, and
// the report.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using workloads::AttentionBlocks;
using workloads::ExpertMatmul;

class ReadKernels : public CommandTest {
protected:
    std::string text(const std::string& settings, const std::string& model = "llama-3-8b") {
        return good_but("llama-3-8b", model) + "training: {" + settings + "}\n";
    }
    workloads::TrainingPlan plan(const std::string& settings,
                                 const std::string& model = "llama-3-8b") {
        return load_scenario(write(text(settings, model))).step().plan;
    }
    AttentionBlocks blocks(const std::string& settings) { return plan(settings).attention.blocks; }
    workloads::ExpertPath moe(const std::string& settings) {
        return plan(settings, "mixtral-8x7b").moe;
    }
};

TEST_F(ReadKernels, BlocksAre512UnlessTheBookCounts) {
    const AttentionBlocks all{{512, 512}, {512, 512}, {512, 512}};
    EXPECT_EQ(blocks("remat: full"), all);
    EXPECT_EQ(blocks("attention_backward: fused"), all);
    EXPECT_EQ(blocks("attention_backward: book"), AttentionBlocks{});
    EXPECT_EQ(blocks("attention_blocks: none"), AttentionBlocks{});
    EXPECT_EQ(blocks("attention_backward: book, attention_blocks: none"), AttentionBlocks{});
}

TEST_F(ReadKernels, BlocksAreReadForAllKernelsOrEach) {
    EXPECT_EQ(blocks("attention_blocks: 2048"),
              (AttentionBlocks{{2048, 2048}, {2048, 2048}, {2048, 2048}}));
    EXPECT_EQ(blocks("attention_blocks: {q: 1024, kv: 128, q_dkv: 256, kv_dkv: 2048, kv_dq: 640}"),
              (AttentionBlocks{{1024, 128}, {256, 2048}, {512, 640}}));
}

TEST_F(ReadKernels, BlocksThatNoKernelHasAreRefused) {
    expect_refused(text("attention_blocks: 1000"),
                   "s.yaml:5:30: training.attention_blocks: 1000 is not a multiple of 128; blocks "
                   "are whole vector registers wide: write 512, 1024, 2048");
    expect_refused(text("attention_blocks: {q: 64}"),
                   "s.yaml:5:34: training.attention_blocks.q: '64' is out of range; allowed: "
                   "128 to 1048576");
    expect_refused(text("attention_backward: book, attention_blocks: 512"),
                   "s.yaml:5:56: training.attention_blocks: blocks with attention_backward: book, "
                   "which counts what the mask leaves; leave it out, or write attention_backward: "
                   "split");
    expect_refused(text("attention_backward: fused, attention_blocks: {q_dq: 512}"),
                   "s.yaml:5:64: training.attention_blocks.q_dq: a block of a kernel that "
                   "attention_backward: fused does not have; leave it out, or write "
                   "attention_backward: split");
}

// Without a flash kernel all scores are computed, and none of the kernel's settings has a meaning.
TEST_F(ReadKernels, DotProductHasScoresInHbmAndNoKernels) {
    const workloads::SelfAttention read = plan("attention_kernel: dot_product").attention;
    EXPECT_EQ(read.scores, 2);
    EXPECT_FALSE(read.causal);
    EXPECT_EQ(read.backward, workloads::BackwardKernels::book);
    EXPECT_EQ(read.blocks, AttentionBlocks{});
    EXPECT_EQ(plan("attention_kernel: dot_product, attention_scores: fp32").attention.scores, 4);
    EXPECT_EQ(plan("attention_kernel: flash").attention.scores, 0);
    const auto refused = [&](const std::string& settings, const std::string& message) {
        expect_refused(text(settings), "s.yaml:5:" + message);
    };
    refused("attention_kernel: dot_product, attention: causal",
            "54: training.attention: dot_product makes the scores that the mask leaves out, too; "
            "write attention: full, or attention_kernel: flash");
    refused("attention_kernel: dot_product, attention_backward: fused",
            "63: training.attention_backward: a flash kernel's backward pass; leave it out, or "
            "write attention_kernel: flash");
    refused("attention_kernel: dot_product, attention_blocks: 512",
            "61: training.attention_blocks: of flash kernels, and attention_kernel is dot_product; "
            "leave it out, or write attention_kernel: flash");
    refused("attention_scores: fp32",
            "30: training.attention_scores: scores of a flash kernel never leave VMEM; leave it "
            "out, or write attention_kernel: dot_product");
}

TEST_F(ReadKernels, ExpertsAreSparseUnlessTheyHaveACapacity) {
    EXPECT_EQ(moe("remat: full").matmul, ExpertMatmul::sparse);
    EXPECT_EQ(moe("remat: full").down.drhs, (workloads::ExpertTile{512, 1024, 1024}));
    EXPECT_TRUE(moe("remat: full").custom_sort_vjp);
    EXPECT_EQ(moe("capacity_factor: 1.25").matmul, ExpertMatmul::dense);
    EXPECT_EQ(moe("capacity_factor: 1").matmul, ExpertMatmul::dense);
    EXPECT_EQ(moe("moe: {matmul: dense}").matmul, ExpertMatmul::dense_of_all);
    EXPECT_EQ(moe("moe: {matmul: ideal}, capacity_factor: 1.25").matmul, ExpertMatmul::ideal);
    EXPECT_EQ(plan("remat: full").moe.matmul, ExpertMatmul::ideal);  // a model without experts
    const workloads::ExpertPath set = moe("moe: {tile: [256, 2048, 512], sort_vjp: scatter-add}");
    for (const workloads::ExpertTiles& tiles : {set.gate_up, set.down}) {
        EXPECT_EQ(tiles,
                  (workloads::ExpertTiles{{256, 2048, 512}, {256, 2048, 512}, {256, 2048, 512}}));
    }
    EXPECT_FALSE(set.custom_sort_vjp);
}

// Each of the six grouped matmuls by its name; unnamed ones have `tile`.
TEST_F(ReadKernels, TilesAreOfSingleProducts) {
    const workloads::ExpertPath some = moe(
        "moe: {tile: [256, 2048, 512], tiles: {gate_up_forward: [1, 2, 3], gate_up_dlhs: [4, 5, "
        "6], gate_up_drhs: [7, 8, 9], down_dlhs: [10, 11, 12], down_drhs: [13, 14, 15]}}");
    EXPECT_EQ(some.gate_up, (workloads::ExpertTiles{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}));
    EXPECT_EQ(some.down, (workloads::ExpertTiles{{256, 2048, 512}, {10, 11, 12}, {13, 14, 15}}));
}

TEST_F(ReadKernels, PathsThatAreNoneAreRefused) {
    const std::string mixtral = "mixtral-8x7b";
    expect_refused(
        text("moe: {matmul: sparse}"),
        "s.yaml:5:17: training.moe: moe of llama-3-8b, which has no experts; leave it out");
    expect_refused(
        text("moe: {matmul: sparse}, capacity_factor: 1.25", mixtral),
        "s.yaml:5:52: training.capacity_factor: capacity_factor of sparse experts, which "
        "take what comes; leave it out, or write moe: {matmul: dense}");
    expect_refused(text("moe: {tile: [512, 1024]}", mixtral),
                   "s.yaml:5:24: training.moe.tile: the list has 2 entries; write rows, inner "
                   "dimension and columns, as in [512, 1024, 1024]");
    expect_refused(text("moe: {tile: [512, 1024, 1024]}, capacity_factor: 1.25", mixtral),
                   "s.yaml:5:24: training.moe.tile: tile of experts that are not sparse; leave it "
                   "out, or write matmul: sparse");
    expect_refused(text("moe: {tiles: {down_dlhs: [0, 1, 1]}}", mixtral),
                   "s.yaml:5:38: training.moe.tiles.down_dlhs: '0' is out of range; allowed: 1 to "
                   "1048576");
    expect_refused(text("moe: {matmul: ideal, tiles: {down_dlhs: [1, 1, 1]}}", mixtral),
                   "s.yaml:5:40: training.moe.tiles: tiles of experts that are not sparse; leave "
                   "it out, or write matmul: sparse");
    expect_refused(text("moe: {matmul: ideal, sort_vjp: custom}", mixtral),
                   "s.yaml:5:43: training.moe.sort_vjp: sort_vjp of experts that are not sparse; "
                   "leave it out, or write matmul: sparse");
}

// 8192 rows for 8 experts: 16 tiles and 7 that are visited twice.
TEST_F(ReadKernels, TheReportSaysWhatIsComputedBeyond) {
    const std::string of =
        podsim({"run", write(text("remat: full", "mixtral-8x7b")), "--show", "flops"}).out;
    EXPECT_THAT(of, HasSubstr("Beyond the FLOPs that MFU counts\n"));
    EXPECT_THAT(of, HasSubstr("  attention: blocks of scores compute 1."));
    EXPECT_THAT(of, HasSubstr("  experts: sparse, tiles of 512 x 1024 x 1024 compute 1."));
    const std::string dense =
        podsim({"run", write(text("capacity_factor: 1.25, attention_blocks: none", "mixtral-8x7b")),
                "--show", "flops"})
            .out;
    EXPECT_THAT(dense, ::testing::Not(HasSubstr("  attention: blocks")));
    EXPECT_THAT(
        dense,
        HasSubstr(" places an expert and sequence, 1.25 x the mean; dispatch and combine add "));
    const std::string exact =
        podsim({"run",
                write(text("attention_backward: book, moe: {matmul: ideal}", "mixtral-8x7b")),
                "--show", "flops"})
            .out;
    EXPECT_THAT(exact, ::testing::Not(HasSubstr("Beyond the FLOPs")));
}

// The last eighth of 8192 positions, that of the reported chip, sees 1024 x 7 x 1024 + 1024^2 / 2
// scores. In blocks of 512 x 512 its first 512 rows compute 14 whole blocks and one that the mask
// halves, the others 15 and one: 31 blocks for 30. The first eighth computes 3 for 2.
TEST_F(ReadKernels, TheReportSaysWhatTheReportedChipComputesBeyond) {
    const auto flops = [&](const std::string& training, const std::string& model,
                           const std::string& mesh, const std::string& slice) {
        return podsim({"run",
                       write(fmt::format("hardware: {{chip: v6e, slice: {}, profile: ideal}}\n"
                                         "model: {{base: {}, layers: 2}}\n"
                                         "batch: {{tokens: 64Ki, sequence: 8192}}\n"
                                         "mesh: {}\ntraining: {{remat: none, {}}}\n",
                                         slice, model, mesh, training)),
                       "--show", "flops", "--no-explain"})
            .out;
    };
    EXPECT_THAT(
        flops("placement: plain, attention_blocks: 512", "llama-3-8b", "{context: y}", "1x8"),
        HasSubstr("Beyond the FLOPs that MFU counts, of context rank 7\n"
                  "  attention: blocks of scores compute 1.03 x what the mask leaves\n"));
    // The report is always on the rank with the most rows.
    const auto experts = [&](const std::string& loads) {
        const std::string all =
            flops(fmt::format("expert_imbalance: {}", loads), "mixtral-8x7b", "{expert: y}", "1x4");
        return all.substr(all.find("  experts: "),
                          all.find(" x what the rows") - all.find("  experts: "));
    };
    EXPECT_EQ(experts("[1, 1, 1, 5]"), experts("[5, 1, 1, 1]"));
    EXPECT_EQ(experts("[0, 1, 1, 6]"), experts("[6, 1, 1, 0]"));
}

}  // namespace
}  // namespace podsim::scenarios
