#include "workloads/step/further_tokens.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "workloads/step/layer_backward.h"
#include "workloads/work/matmul_work.h"
#include "workloads/work/vector_work.h"

namespace podsim::workloads {
namespace {

/// Returns the rows of W_k on a tensor rank.
double columns(const ForwardParts& parts) {
    return 2 * parts.shard.d_model / parts.ways.of_matrix();
}

/// Returns both norms, which read their rows and write them for the matmul.
Elementwise norms(const Shard& shard) {
    const double elements = shard.rows * shard.d_model;
    const double norm = shard.layer_norm ? vector_unit::kLayerNorm : vector_unit::kNorm;
    return {4 * elements * shard.precision.compute, 2 * elements * norm};
}

/// Returns the gradients of both norms. Each reads two rows and writes one, and that of the hidden
/// rows adds to their stream.
Elementwise norm_gradients(const Shard& shard) {
    const double elements = shard.rows * shard.d_model;
    const double norm =
        shard.layer_norm ? vector_unit::kLayerNormBackward : vector_unit::kNormBackward;
    return {7 * elements * shard.precision.compute, elements * (2 * norm + vector_unit::kResidual)};
}

}  // namespace

Tensor FurtherTokens::losses(const Tensor& rows) {
    const ModelEnds::Logits next = ends_.loss_of(rows);
    const OpIndex gathered = parts_.chain.last();
    std::vector<Further> all;
    all.reserve(static_cast<std::size_t>(layout_.mtp_layers()));
    for (int k = 0; k < layout_.mtp_layers(); ++k) {
        all.push_back(forward(k + 1, k == 0 ? rows : all.back().logits.own));
    }
    Sources from_later;
    for (; !all.empty(); all.pop_back()) {
        Tensor dy = ends_.gradient_of(all.back().logits, ModelEnds::Adds::more);
        dy.made_by = std::move(dy.made_by) + from_later;
        from_later = backward(std::move(all.back()), dy).made_by;
    }
    Tensor dx = ends_.gradient_of(next, ModelEnds::Adds::last);
    dx.made_by = std::move(dx.made_by) + from_later;
    ends_.hold_table(gathered, parts_.chain.last_compute());
    return dx;
}

FurtherTokens::Further FurtherTokens::forward(int number, const Tensor& hidden) {
    Further further;
    further.number = number;
    further.hidden = hidden;
    further.embedded = ends_.embed();
    further.normed = parts_.buffers.hold(MemoryClass::activations, 2 * own_row_bytes(parts_.shard),
                                         further.embedded.from);

    parts_.begin_use();
    const Tensor rows = project(further);
    parts_.end_use();

    parts_.begin_use();
    LayerForward made = layer_forward(parts_, kMtpRemat, kind(), rows);
    parts_.end_use();
    further.saved = std::move(made.saved);
    made.output.buffer =
        parts_.buffers.hold(MemoryClass::buffers, own_row_bytes(parts_.shard), parts_.chain.last());
    further.logits = ends_.loss_of(made.output);
    return further;
}

Tensor FurtherTokens::backward(Further further, const Tensor& dy) {
    parts_.begin_use();
    const Tensor rows = layer_backward(parts_, kMtpRemat, kind(), std::move(further.saved), dy);
    parts_.end_use();

    parts_.begin_use();
    const RowGradients gradients = project_back(further, rows);
    parts_.end_use();

    parts_.chain.begin_turn();
    parts_.names.set_part(fmt::format("mtp {} embedding", further.number), Pass::backward);
    ends_.add_to_embedding(gradients.embedded);
    return gradients.hidden;
}

Tensor FurtherTokens::complete(const Further& further) {
    RowExchange& exchange = parts_.exchange;
    const Tensor hidden = exchange.complete(exchange.gather_rows("hidden rows", further.hidden));
    const Tensor embedded =
        exchange.complete(exchange.gather_rows("embedded rows", further.embedded));
    return {hidden.from, embedded.through, made_by(hidden, embedded)};
}

Tensor FurtherTokens::project(const Further& further) {
    const Tensor rows = complete(further);
    const Tensor sums =
        parts_.compute("projection",
                       activations(parts_.shard, columns(parts_), parts_.shard.d_model,
                                   norms(parts_.shard), Runs::in_bf16),
                       rows.made_by + parts_.weights.gathered());
    parts_.buffers.hold_between(MemoryClass::buffers, 2 * gathered_row_bytes(parts_), rows.from,
                                sums.through);
    return parts_.exchange.scatter_rows("projection", {sums});
}

FurtherTokens::RowGradients FurtherTokens::project_back(const Further& further, const Tensor& dy) {
    const Shard& shard = parts_.shard;
    Arriving arriving = parts_.exchange.gather_rows("projection gradient", dy);
    const Tensor gradient = parts_.exchange.complete(arriving);
    const Tensor sums = parts_.compute(
        "projection input gradient",
        activations(shard, shard.d_model, columns(parts_), norm_gradients(shard), Runs::in_bf16),
        made_by(gradient, further.hidden, further.embedded) + parts_.weights.gathered());
    RowGradients rows{parts_.exchange.scatter_rows("hidden gradient", {sums}),
                      parts_.exchange.scatter_rows("embedded gradient", {sums})};

    const Weights weights{layout_.mtp_projection(), 0};
    Gradients unreduced = parts_.gradients.begin(parts_.names.part(), weights);
    const Tensor inputs = complete(further);
    const Tensor written = parts_.gradients.write(
        unreduced, "projection weight gradient",
        weight_gradient(shard, columns(parts_), shard.d_model, {}, Runs::in_bf16),
        made_by(gradient, inputs));
    parts_.buffers.hold_between(MemoryClass::buffers, gathered_row_bytes(parts_), gradient.from,
                                written.through);
    parts_.buffers.hold_between(MemoryClass::buffers, 2 * gathered_row_bytes(parts_), inputs.from,
                                written.through);
    parts_.buffers.release(further.normed, written.through);
    parts_.gradients.reduce(weights, unreduced);
    return rows;
}

}  // namespace podsim::workloads
