#include "scenarios/src/scenario/read_attention.h"

#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace podsim::scenarios {
namespace {

using workloads::AttentionBlocks;
using workloads::BackwardKernels;
using workloads::Placement;

constexpr std::pair<std::string_view, bool> kMasks[] = {{"causal", true}, {"full", false}};
constexpr std::pair<std::string_view, BackwardKernels> kBackwardKernels[] = {
    {"split", BackwardKernels::split},
    {"fused", BackwardKernels::fused},
    {"book", BackwardKernels::book}};
constexpr std::pair<std::string_view, Placement> kPlacements[] = {{"zig-zag", Placement::zig_zag},
                                                                  {"plain", Placement::plain}};
constexpr std::pair<std::string_view, bool> kAttentionKernels[] = {{"flash", false},
                                                                   {"dot_product", true}};
constexpr std::pair<std::string_view, double> kScores[] = {{"bf16", 2.0}, {"fp32", 4.0}};
constexpr std::int64_t kDefaultBlock = 512;
constexpr std::int64_t kLane = 128;
constexpr std::int64_t kLargestBlock = 1 << 20;

double read_side(const Reader& side) {
    const std::int64_t read = side.whole(kLane, kLargestBlock, kDefaultBlock);
    if (read % kLane != 0) {
        side.refuse(fmt::format("{} is not a multiple of {}", read, kLane),
                    "blocks are whole vector registers wide: write 512, 1024, 2048");
    }
    return static_cast<double>(read);
}

AttentionBlocks read_blocks(const Reader& blocks, BackwardKernels kernels) {
    const bool book = kernels == BackwardKernels::book;
    blocks.may_be("none");
    if (blocks.present() && !blocks.is_map() && blocks.node().text == "none") {
        return {};
    }
    if (book && blocks.present()) {
        blocks.refuse("blocks with attention_backward: book, which counts what the mask leaves",
                      "leave it out, or write attention_backward: split");
    }
    if (book) {
        return {};
    }
    if (!blocks.is_map()) {
        const double side = read_side(blocks);
        return {{side, side}, {side, side}, {side, side}};
    }
    const auto block = [&](std::string_view q, std::string_view kv) {
        return workloads::ScoreBlock{read_side(blocks[q]), read_side(blocks[kv])};
    };
    if (kernels == BackwardKernels::fused) {
        for (const std::string_view key : {"q_dq", "kv_dq"}) {
            if (blocks[key].present()) {
                blocks[key].refuse(
                    "a block of a kernel that attention_backward: fused does not have",
                    "leave it out, or write attention_backward: split");
            }
        }
    }
    return {block("q", "kv"), block("q_dkv", "kv_dkv"), block("q_dq", "kv_dq")};
}

}  // namespace

workloads::SelfAttention read_attention_kernels(const Reader& section) {
    workloads::SelfAttention attention;
    attention.causal = section["attention"].choose<bool>(kMasks, true);
    attention.backward = section["attention_backward"].choose<BackwardKernels>(
        kBackwardKernels, BackwardKernels::split);
    attention.blocks = read_blocks(section["attention_blocks"], attention.backward);
    return attention;
}

namespace {

/// Reads attention without a kernel: all scores are made, whatever the mask, and go through HBM.
workloads::SelfAttention read_dot_product(const Reader& training) {
    workloads::SelfAttention attention;
    attention.causal = training["attention"].choose<bool>(kMasks, false);
    if (attention.causal) {
        training["attention"].refuse("dot_product makes the scores that the mask leaves out, too",
                                     "write attention: full, or attention_kernel: flash");
    }
    attention.backward = training["attention_backward"].choose<BackwardKernels>(
        kBackwardKernels, BackwardKernels::book);
    if (attention.backward != BackwardKernels::book) {
        training["attention_backward"].refuse("a flash kernel's backward pass",
                                              "leave it out, or write attention_kernel: flash");
    }
    for (const std::string_view key : {"attention_blocks", "known_max_logit"}) {
        if (training[key].present()) {
            training[key].refuse("of flash kernels, and attention_kernel is dot_product",
                                 "leave it out, or write attention_kernel: flash");
        }
    }
    attention.scores = training["attention_scores"].choose<double>(kScores, 2);
    return attention;
}

}  // namespace

workloads::SelfAttention read_attention(const Reader& training) {
    if (training["attention_kernel"].choose<bool>(kAttentionKernels, false)) {
        workloads::SelfAttention attention = read_dot_product(training);
        attention.placement =
            training["placement"].choose<Placement>(kPlacements, Placement::zig_zag);
        return attention;
    }
    if (training["attention_scores"].present()) {
        training["attention_scores"].refuse("scores of a flash kernel never leave VMEM",
                                            "leave it out, or write attention_kernel: dot_product");
    }
    workloads::SelfAttention attention = read_attention_kernels(training);
    attention.known_max_logit = training["known_max_logit"].flag(false);
    attention.placement = training["placement"].choose<Placement>(kPlacements, Placement::zig_zag);
    return attention;
}

}  // namespace podsim::scenarios
