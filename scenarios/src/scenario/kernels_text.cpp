#include "scenarios/src/scenario/kernels_text.h"

#include <fmt/format.h>

#include "workloads/models/model.h"
#include "workloads/work/attention_work.h"
#include "workloads/work/experts_work.h"

namespace podsim::scenarios {
namespace {

using workloads::BackwardKernels;
using workloads::ExpertMatmul;

const char* kernels_text(BackwardKernels kernels) {
    switch (kernels) {
        case BackwardKernels::book:
            return "";
        case BackwardKernels::fused:
            return " with one backward kernel";
        case BackwardKernels::split:
            return " with two backward kernels";
    }
    return "";
}

/// Returns the FLOPs that two operations execute in their tiles, as a multiple of the FLOPs that
/// they count.
double tiled(const workloads::Compute& a, const workloads::Compute& b) {
    const double flops = (a.flops + b.flops).value();
    return flops > 0 ? (a.flops.value() * a.tiled + b.flops.value() * b.tiled) / flops : 1;
}

/// Reports the blocks of layers with local attention, or of the others.
std::string blocks_text(const workloads::Shard& shard, bool local, const char* layers) {
    return fmt::format("  attention{}: blocks of scores compute {:.2f} x what the mask leaves\n",
                       layers,
                       tiled(attention_forward(shard, local), attention_backward(shard, local)));
}

std::string experts_text(const workloads::Shard& shard) {
    const workloads::ExpertPath& path = shard.experts.path;
    const workloads::ExpertTile& tile = path.gate_up.forward;
    const workloads::ExpertTiles alike{tile, tile, tile};
    switch (path.matmul) {
        case ExpertMatmul::ideal:
            return "";
        case ExpertMatmul::sparse:
            return fmt::format(
                "  experts: sparse, tiles of {:g} x {:g} x {:g}{} compute {:.2f} x what the rows "
                "need\n",
                tile.m, tile.k, tile.n,
                path.gate_up == alike && path.down == alike ? "" : " and others",
                tiled(experts_gate_up_forward(shard), experts_down_forward(shard)));
        case ExpertMatmul::dense:
            return fmt::format(
                "  experts: dense, {:g} places an expert and sequence, {:.2f} x the mean; dispatch "
                "and "
                "combine add {:.0f} % to their forward FLOPs\n",
                shard.experts.capacity,
                shard.experts.copies / (shard.tokens * shard.experts.per_token),
                100 * (router_forward(shard).flops + combine_forward(shard).flops).value() /
                    (experts_gate_up_forward(shard).flops + experts_down_forward(shard).flops)
                        .value());
        case ExpertMatmul::dense_of_all:
            return fmt::format("  experts: dense without a capacity, every token by all {:g}\n",
                               shard.experts.routed);
    }
    return "";
}

}  // namespace

std::string attention_text(const workloads::TrainingPlan& plan) {
    const bool parts = plan.attention.causal && plan.ways.context > 1;
    const bool plain = plan.attention.placement == workloads::Placement::plain;
    return fmt::format("{} attention{}{}", plan.attention.causal ? "causal" : "full",
                       !parts  ? ""
                       : plain ? " on contiguous parts"
                               : " on zig-zag parts",
                       kernels_text(plan.attention.backward));
}

std::string padding_text(const workloads::ModelSpec& model, const workloads::TrainingPlan& plan,
                         const workloads::Ranks& ranks) {
    const auto shard_of = [&](bool local) { return make_shard(model, plan, ranks, local); };
    std::string text;
    if (plan.attention.blocks.any()) {
        const bool windows = model.window > 0;
        const bool globals = !windows || model.global_every > 0;
        text += globals ? blocks_text(shard_of(false), false, windows ? ", all keys" : "") : "";
        text += windows ? blocks_text(shard_of(true), true, ", window") : "";
    }
    if (model.experts.count > 0) {
        text += experts_text(shard_of(false));
    }
    return text;
}

}  // namespace podsim::scenarios
