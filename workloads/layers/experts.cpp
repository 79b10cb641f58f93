#include "workloads/layers/experts.h"

#include <algorithm>
#include <utility>

namespace podsim::workloads {
namespace {

/// Bytes of this chip's share of its experts' tokens: r k load rows.
double token_bytes(const StepBuilder& builder) {
    const Shard& shard = builder.shard();
    return shard.experts.tokens / builder.plan().ways.tensor * shard.d_model *
           shard.precision.compute;
}

/// Bytes of an exchange's buffer: what comes, or what goes where that is more.
double exchanged_bytes(const StepBuilder& builder) {
    const Shard& shard = builder.shard();
    return std::max(shard.experts.tokens, shard.experts.copies) / builder.plan().ways.tensor *
           shard.d_model * shard.precision.compute;
}

/// Bytes of its experts' complete tokens where tensor parallelism gathers them.
double gathered_token_bytes(const StepBuilder& builder) {
    return builder.plan().ways.tensor > 1 ? token_bytes(builder) * builder.plan().ways.tensor : 0;
}

double expert_bytes(const Shard& shard, double width) {
    return shard.experts.tokens * width * shard.precision.compute;
}

double logit_bytes(const Shard& shard) {
    return shard.rows * shard.experts.routed * shard.precision.compute;
}

Mlp shared_mlp(const Shard& shard) {
    return {.prefix = "shared ",
            .width = shard.experts.shared_width,
            .normed = false,
            .gate_up = Matrix::shared_gate_up,
            .down = Matrix::shared_down};
}

}  // namespace

OpIndex expert_pass(StepBuilder& builder, Holder& holder, ExpertBuffers& held) {
    const Shard& shard = builder.shard();
    const Keep& keep = holder.keep();
    builder.reads(Matrix::router);
    const OpIndex router = builder.compute("router", router_forward(shard));
    held.logits = holder.until(LayerTensor::gate_up, logit_bytes(shard), router, router);
    OpIndex rows = router;
    BlockOps shared{router, router};
    OpIndex scattered = router;
    if (shard.experts.shared_width > 0) {
        builder.reads(Matrix::shared_gate_up);
        rows = builder.gather_rows("mlp input");
        shared = mlp_pass(builder, holder, shared_mlp(shard), held.shared);
        scattered = builder.scatter_rows("shared output", shared.out);
    }
    held.rows = hold_rows(builder, holder, rows, shared.reads);

    const OpIndex sent = builder.exchange_tokens("tokens", false);
    builder.reads(Matrix::gate_up);
    const OpIndex tokens = builder.gather_tokens("tokens");
    const OpIndex gate_up = builder.compute("experts gate_up", experts_gate_up_forward(shard));
    builder.reads(Matrix::down);
    const OpIndex down =
        builder.compute_scattered("experts down", experts_down_forward(shard),
                                  token_bytes(builder) * builder.plan().ways.tensor);
    const OpIndex reduced = builder.scatter_tokens("expert output", down);
    builder.exchange_tokens("expert output", true);
    const OpIndex output = builder.compute("combine", combine_forward(shard));

    held.tokens = holder.until(keep.normed || keep.gathered, token_bytes(builder), sent, gate_up);
    held.tokens_gathered =
        holder.until(keep.gathered, gathered_token_bytes(builder), tokens, gate_up);
    held.routed.gate_up =
        holder.until(LayerTensor::gate_up, expert_bytes(shard, shard.branches * shard.experts.d_ff),
                     gate_up, down);
    held.routed.hidden =
        holder.until(LayerTensor::hidden, expert_bytes(shard, shard.experts.d_ff), down, down);
    builder.hold_between(MemoryClass::buffers, exchanged_bytes(builder), reduced, output);
    if (shard.experts.shared_width > 0) {
        builder.hold_between(MemoryClass::buffers, builder.local_rows(), scattered, output);
    }
    return output;
}

void recompute_experts(StepBuilder& builder, ExpertBuffers& alive) {
    const Shard& shard = builder.shard();
    builder.reads(Matrix::router);
    const OpIndex router = builder.compute("router", router_forward(shard));
    alive.logits = builder.hold(MemoryClass::buffers, logit_bytes(shard), router);
    if (shard.experts.shared_width > 0) {
        builder.reads(Matrix::shared_gate_up);
        alive.rows.gathered = builder.hold(MemoryClass::buffers, builder.full_rows(),
                                           builder.gather_rows("mlp input"));
        recompute_gate_up(builder, shared_mlp(shard), alive.shared);
    }
    alive.tokens = builder.hold(MemoryClass::buffers, token_bytes(builder),
                                builder.exchange_tokens("tokens", false));
    builder.reads(Matrix::gate_up);
    alive.tokens_gathered = builder.hold(MemoryClass::buffers, gathered_token_bytes(builder),
                                         builder.gather_tokens("tokens"));
    const OpIndex first = builder.next();
    builder.compute("experts gate_up", experts_gate_up_forward(shard));
    alive.routed.gate_up = builder.hold(
        MemoryClass::buffers, expert_bytes(shard, shard.branches * shard.experts.d_ff), first);
}

void ExpertBackward::shared() {
    const Shard& shard = builder_.shard();
    if (shard.experts.shared_width == 0) {
        builder_.release(alive_.rows.gathered, builder_.last());
        return;
    }
    builder_.reads(Matrix::shared_down);
    const OpIndex dy = builder_.gather_rows("shared output gradient");
    MlpBackward mlp(builder_, shared_mlp(shard), alive_.shared);
    const OpIndex dw = mlp.output();
    builder_.hold_between(MemoryClass::buffers, gathered_row_bytes(builder_), dy, dw);
    builder_.reads(Matrix::shared_gate_up);
    const BufferId rows = complete_rows(builder_, alive_.rows, "mlp input");
    const OpIndex dx = mlp.input();
    builder_.scatter_rows("shared input gradient", dx);
    builder_.release(rows, mlp.weights());
}

void ExpertBackward::hidden_gradient() {
    const Shard& shard = builder_.shard();
    exchanged_ = builder_.hold(MemoryClass::buffers, exchanged_bytes(builder_),
                               builder_.compute("combine gradient", combine_gradient(shard)));
    builder_.exchange_tokens("expert output gradient", false);
    builder_.reads(Matrix::down);
    output_gradient_ = builder_.hold(MemoryClass::buffers, gathered_token_bytes(builder_),
                                     builder_.gather_tokens("expert output gradient"));
    hidden_ = builder_.compute("experts down input gradient", experts_down_input_gradient(shard));
    gradient_ = builder_.hold(MemoryClass::buffers,
                              expert_bytes(shard, shard.branches * shard.experts.d_ff), hidden_);
}

void ExpertBackward::down_weights() {
    builder_.begin_gradient(Matrix::down);
    const OpIndex dw = builder_.compute("experts down weight gradient",
                                        experts_down_weight_gradient(builder_.shard()));
    builder_.end_gradient(Matrix::down);
    for (const BufferId buffer :
         {exchanged_, output_gradient_, alive_.routed.hidden, alive_.routed.gate_up}) {
        builder_.release(buffer, dw);
    }
}

void ExpertBackward::bring_tokens() {
    if (alive_.tokens == kNoBuffer) {
        alive_.tokens = builder_.hold(MemoryClass::buffers, token_bytes(builder_),
                                      builder_.exchange_tokens("tokens", false));
    }
}

void ExpertBackward::complete_tokens() {
    if (alive_.tokens_gathered == kNoBuffer) {
        alive_.tokens_gathered = builder_.hold(MemoryClass::buffers, gathered_token_bytes(builder_),
                                               builder_.gather_tokens_ahead("tokens"));
    }
}

void ExpertBackward::token_gradient() {
    builder_.reads(Matrix::gate_up);
    const OpIndex dx = builder_.compute_scattered(
        "experts gate_up input gradient", experts_gate_up_input_gradient(builder_.shard()),
        token_bytes(builder_) * builder_.plan().ways.tensor);
    reduced_ = builder_.scatter_tokens("token gradient", dx);
    builder_.exchange_tokens("token gradient", true);
}

void ExpertBackward::gate_up_weights() {
    builder_.begin_gradient(Matrix::gate_up);
    builder_.await_rows();
    const OpIndex weights = builder_.compute("experts gate_up weight gradient",
                                             experts_gate_up_weight_gradient(builder_.shard()));
    builder_.end_gradient(Matrix::gate_up);
    for (const BufferId buffer : {gradient_, alive_.tokens, alive_.tokens_gathered}) {
        builder_.release(buffer, weights);
    }
}

void ExpertBackward::router_input() {
    builder_.reads(Matrix::router);
    const OpIndex router =
        builder_.compute("router input gradient", router_input_gradient(builder_.shard()));
    builder_.hold_between(MemoryClass::buffers, exchanged_bytes(builder_), reduced_, router);
}

OpIndex ExpertBackward::router_weights() {
    builder_.begin_gradient(Matrix::router);
    const OpIndex end =
        builder_.compute("router weight gradient", router_weight_gradient(builder_.shard()));
    builder_.end_gradient(Matrix::router);
    for (const BufferId buffer : {alive_.logits, alive_.rows.normed}) {
        builder_.release(buffer, end);
    }
    return end;
}

void ExpertBackward::run() {
    shared();
    hidden_gradient();
    down_weights();
    bring_tokens();
    builder_.reads(Matrix::gate_up);
    complete_tokens();
    token_gradient();
    gate_up_weights();
    router_input();
    router_weights();
}

void ExpertBackward::input_gradients() {
    const Shard& shard = builder_.shard();
    if (shard.experts.shared_width > 0) {
        builder_.reads(Matrix::shared_down);
        shared_rows_ = builder_.hold(MemoryClass::buffers, builder_.full_rows(),
                                     builder_.gather_rows("shared output gradient"));
        shared_.emplace(builder_, shared_mlp(shard), alive_.shared);
        shared_->hidden_gradient();
        builder_.scatter_rows("shared input gradient", shared_->input());
    }
    hidden_gradient();
    if (builder_.plan().ways.tensor > 1) {
        builder_.release(std::exchange(exchanged_, kNoBuffer), hidden_);  // the gathered ones stay
    }
    bring_tokens();
    token_gradient();
    router_input();
}

void ExpertBackward::weight_gradients() {
    BufferId rows = alive_.rows.gathered;
    if (shared_) {
        builder_.release(shared_rows_, shared_->down_weights());
        rows = complete_rows(builder_, alive_.rows, "mlp input");
        shared_->weights();
    }
    builder_.release(rows, router_weights());
    down_weights();
    complete_tokens();
    gate_up_weights();
}

}  // namespace podsim::workloads
