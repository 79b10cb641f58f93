#include "workloads/step/experts_backward.h"

#include "workloads/step/rematerialise.h"
#include "workloads/work/experts_work.h"

namespace podsim::workloads {

void ExpertBackward::shared(const Tensor& dy) {
    const Shard& shard = parts_.shard;
    if (shard.experts.shared_width == 0) {
        parts_.buffers.release(alive_.rows.gathered.buffer, parts_.chain.last());
        return;
    }
    parts_.reads(Matrix::shared_down);
    Arriving complete = parts_.exchange.gather_rows("shared output gradient", dy);
    MlpBackward mlp(parts_, shared_mlp(shard), alive_.shared);
    const OpIndex dw = mlp.output(complete);
    parts_.buffers.hold_between(MemoryClass::buffers, gathered_row_bytes(parts_), complete.from,
                                dw);
    parts_.reads(Matrix::shared_gate_up);
    const Tensor rows = complete_rows(parts_, alive_.rows, norm_input_, "mlp input");
    shared_gradient_ = parts_.exchange.scatter_rows("shared input gradient", mlp.input({}));
    parts_.buffers.release(rows.buffer, mlp.weights(rows));
}

void ExpertBackward::hidden_gradient(const Tensor& dy) {
    const Shard& shard = parts_.shard;
    combine_gradient_ = parts_.compute("combine gradient", combine_gradient(shard),
                                       made_by(dy, alive_.logits, alive_.returned));
    parts_.buffers.release(alive_.returned.buffer, combine_gradient_.from);
    exchanged_ =
        parts_.buffers.hold(MemoryClass::buffers, exchanged_bytes(parts_), combine_gradient_.from);
    const Tensor sent =
        parts_.exchange.exchange_tokens("expert output gradient", false, combine_gradient_);
    parts_.reads(Matrix::down);
    Arriving complete = parts_.exchange.gather_tokens("expert output gradient", sent);
    output_gradient_ = held(parts_, complete, gathered_token_bytes(parts_));
    hidden_ =
        parts_.matmul("experts down input gradient", RowsWork(shard, experts_down_input_gradient),
                      complete, alive_.routed.gate_up.made_by);
    output_gradient_.made_by = complete.made_by;
    hidden_.buffer = parts_.buffers.hold(MemoryClass::buffers,
                                         expert_bytes(shard, shard.branches * shard.experts.d_ff),
                                         hidden_.through);
}

void ExpertBackward::down_weights() {
    const Tensor dw = parts_.gradients.write_matrix(
        Matrix::down, "experts down weight gradient", experts_down_weight_gradient(parts_.shard),
        made_by(output_gradient_, alive_.routed.hidden_source()));
    for (const BufferId buffer : {exchanged_, output_gradient_.buffer, alive_.routed.hidden.buffer,
                                  alive_.routed.gate_up.buffer}) {
        parts_.buffers.release(buffer, dw.through);
    }
}

void ExpertBackward::bring_tokens() {
    if (!alive_.tokens.kept()) {
        Tensor routed;
        routed.made_by = source_of(alive_.rows, norm_input_) + alive_.logits.made_by;
        alive_.tokens = held(parts_, parts_.exchange.exchange_tokens("tokens", false, routed),
                             token_bytes(parts_));
    }
}

void ExpertBackward::complete_tokens() {
    if (!alive_.tokens_gathered.kept()) {
        alive_.tokens_gathered =
            held(parts_, parts_.exchange.gather_tokens_ahead("tokens", alive_.tokens),
                 gathered_token_bytes(parts_));
    }
}

void ExpertBackward::token_gradient() {
    parts_.reads(Matrix::gate_up);
    const PartialSums dx = parts_.matmul_scattered(
        "experts gate_up input gradient", RowsWork(parts_.shard, experts_gate_up_input_gradient),
        token_sum_bytes(parts_), hidden_.made_by);
    const Tensor reduced = parts_.exchange.scatter_tokens("token gradient", dx);
    reduced_ = reduced.through;
    token_gradient_ = parts_.exchange.exchange_tokens("token gradient", true, reduced);
}

void ExpertBackward::gate_up_weights() {
    const Tensor dw = parts_.gradients.write_matrix(
        Matrix::gate_up, "experts gate_up weight gradient",
        experts_gate_up_weight_gradient(parts_.shard), made_by(hidden_, alive_.tokens_gathered));
    for (const Tensor* tensor : {&hidden_, &alive_.tokens, &alive_.tokens_gathered}) {
        parts_.buffers.release(tensor->buffer, dw.through);
    }
}

Tensor ExpertBackward::router_input() {
    parts_.reads(Matrix::router);
    Tensor dx = parts_.with_weights(
        "router input gradient", router_input_gradient(parts_.shard),
        made_by(token_gradient_, combine_gradient_, shared_gradient_, alive_.logits) + norm_input_);
    parts_.buffers.hold_between(MemoryClass::buffers, exchanged_bytes(parts_), reduced_, dx.from);
    hold_scratch(parts_, combine_gradient_.from, dx.from);
    return dx;
}

OpIndex ExpertBackward::router_weights() {
    const Tensor dw = parts_.gradients.write_matrix(
        Matrix::router, "router weight gradient", router_weight_gradient(parts_.shard),
        made_by(combine_gradient_, alive_.logits) + source_of(alive_.rows, norm_input_));
    for (const Tensor* tensor : {&alive_.logits, &alive_.rows.normed}) {
        parts_.buffers.release(tensor->buffer, dw.through);
    }
    return dw.through;
}

Tensor ExpertBackward::run(const Tensor& dy) {
    shared(dy);
    hidden_gradient(dy);
    down_weights();
    bring_tokens();
    parts_.reads(Matrix::gate_up);
    complete_tokens();
    token_gradient();
    gate_up_weights();
    Tensor dx = router_input();
    router_weights();
    return dx;
}

Tensor ExpertBackward::input_gradients(const Tensor& dy) {
    const Shard& shard = parts_.shard;
    if (shard.experts.shared_width > 0) {
        parts_.reads(Matrix::shared_down);
        Arriving complete = parts_.exchange.gather_rows("shared output gradient", dy);
        shared_rows_ = held(parts_, complete, full_row_bytes(shard));
        shared_.emplace(parts_, shared_mlp(shard), alive_.shared);
        shared_->hidden_gradient(complete);
        shared_gradient_ =
            parts_.exchange.scatter_rows("shared input gradient", shared_->input({}));
    }
    hidden_gradient(dy);
    if (parts_.ways.tensor > 1) {
        // The gathered dy stays.
        parts_.buffers.release(std::exchange(exchanged_, kNoBuffer), hidden_.through);
    }
    bring_tokens();
    token_gradient();
    return router_input();
}

void ExpertBackward::weight_gradients() {
    Tensor rows = alive_.rows.gathered;
    if (shared_) {
        parts_.buffers.release(shared_rows_.buffer, shared_->down_weights());
        rows = complete_rows(parts_, alive_.rows, norm_input_, "mlp input");
        shared_->weights(rows);
    }
    parts_.buffers.release(rows.buffer, router_weights());
    down_weights();
    complete_tokens();
    gate_up_weights();
}

}  // namespace podsim::workloads
