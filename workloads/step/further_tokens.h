// Losses of more tokens than the next: multi-token prediction (DeepSeek-V3, 2024, eq. 21 to 23).
//
// Of the last layer's rows h_0, K layers of further tokens behind them, e_k the embedding of the token k further on:
//   h_k = layer_k(W_k [norm(h_(k-1)); norm(e_k)])     W_k: 2 D x D, in bf16
//   a loss of each h_k as of h_0, by the model's final norm and unembedding
// In the order that JAX differentiates MaxText's program in (multi_token_prediction.py): the next token's loss, then of every
// k the lookup, the projection, the layer and the loss; backward from the last to the first, the next token's loss in the
// end. So the logits of all losses, and their gradients, stand at once; the table is gathered once for all. The layers
// keep all that their backward pass reads (kMtpRemat).
//
// W_k is split over its 2 D rows by the tensor ways, which gather both rows, add up partial sums by a ReduceScatter,
// and in the backward pass
//   [AllGather dy] d [ReduceScatter dh, de] [AllGather h, e] dw
#pragma once

#include <vector>

#include "workloads/layers/layer.h"
#include "workloads/step/model_ends.h"

namespace podsim::workloads {

class FurtherTokens {
public:
    FurtherTokens(const StageLayout& layout, StepParts& parts, ModelEnds& ends)
        : layout_(layout), parts_(parts), ends_(ends) {}

    /// All losses of the last layer's rows and their backward pass: the rows' gradient. Releases the rows.
    Tensor losses(const Tensor& rows);

private:
    /// What of one further token outlives its forward pass.
    struct Further {
        int number = 1;
        Tensor hidden;                ///< rows of the token before
        Tensor embedded;              ///< rows of its embedding
        BufferId normed = kNoBuffer;  ///< both, normed
        SavedLayer saved;
        ModelEnds::Logits logits;
    };
    [[nodiscard]] LayerKind kind() const { return layout_.kind(layout_.first_mtp_layer()); }
    Further forward(int number, const Tensor& hidden);
    /// From the gradient of the layer's output to that of the rows of the token before.
    Tensor backward(Further further, const Tensor& dy);
    Tensor project(const Further& further);
    /// Gradients of both rows, and of the projection's weights.
    struct RowGradients {
        Tensor hidden;
        Tensor embedded;
    };
    RowGradients project_back(const Further& further, const Tensor& dy);
    /// Both rows complete.
    Tensor complete(const Further& further);

    const StageLayout& layout_;
    StepParts& parts_;
    ModelEnds& ends_;
};

}  // namespace podsim::workloads
