// Losses of tokens beyond the next: multi-token prediction (DeepSeek-V3, 2024, eq. 21 to 23).
//
// h_0 are the last layer's rows, K layers of further tokens follow them, and e_k is the embedding
// of the token k further on:
//   h_k = layer_k(W_k [norm(h_(k-1)); norm(e_k)])     W_k: 2 D x D, in bf16
//   a loss of each h_k as of h_0, by the model's final norm and unembedding
// The order is that in which JAX differentiates MaxText's program (multi_token_prediction.py): the
// next token's loss, then for every k the lookup, the projection, the layer and the loss; backward
// from the last k to the first, and the next token's loss at the end. The logits of all losses, and
// their gradients, thus exist at once. The table is gathered once for all. The layers keep
// everything that their backward pass reads (kMtpRemat).
//
// The tensor ways split W_k over its 2 D rows. They gather both rows and add up partial sums by a
// ReduceScatter. In the backward pass
//   [AllGather dy] d [ReduceScatter dh, de] [AllGather h, e] dw
#pragma once

#include <vector>

#include "workloads/step/layer.h"
#include "workloads/step/model_ends.h"

namespace podsim::workloads {

/// Forward and backward pass of all losses of a stage with further tokens.
class FurtherTokens {
public:
    FurtherTokens(const StageLayout& layout, StepParts& parts, ModelEnds& ends)
        : layout_(layout), parts_(parts), ends_(ends) {}

    /// Runs all losses of the last layer's rows and their backward pass. Returns the rows' gradient
    /// and releases the rows.
    Tensor losses(const Tensor& rows);

private:
    /// Tensors of one further token that outlive its forward pass.
    struct Further {
        int number = 1;
        Tensor hidden;                ///< rows of the token before
        Tensor embedded;              ///< rows of its embedding
        BufferId normed = kNoBuffer;  ///< both rows, normed
        SavedLayer saved;
        ModelEnds::Logits logits;
    };
    [[nodiscard]] LayerKind kind() const { return layout_.kind(layout_.first_mtp_layer()); }
    Further forward(int number, const Tensor& hidden);
    /// Returns the gradient of the rows of the token before, from that of the layer's output.
    Tensor backward(Further further, const Tensor& dy);
    Tensor project(const Further& further);
    /// Gradients of both rows. project_back also computes that of the projection's weights.
    struct RowGradients {
        Tensor hidden;
        Tensor embedded;
    };
    RowGradients project_back(const Further& further, const Tensor& dy);
    /// Returns both rows complete.
    Tensor complete(const Further& further);

    const StageLayout& layout_;
    StepParts& parts_;
    ModelEnds& ends_;
};

}  // namespace podsim::workloads
