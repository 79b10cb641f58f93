// The two ends of the model in a step: embedding, and unembedding with the loss.
//
// Tied embeddings: the table is gathered for both uses and its gradient, summed over both, is reduced once a microbatch,
// after the embedding's backward; in a pipeline two stages hold it and exchange them. The unembedding's weight gradient is
// never put off, so that no logits are kept.
//
// With T > 1 the tables are split over the vocabulary (and D, row_exchange.h): the lookup's partial rows
// are scattered, logits made of gathered ones, each token's maximum and sum (4-byte values) all-reduced.
#pragma once

#include "workloads/builder/step_parts.h"
#include "workloads/step/stage_layout.h"

namespace podsim::workloads {

class ModelEnds {
public:
    ModelEnds(const StageLayout& layout, StepParts& parts) : layout_(layout), parts_(parts) {}

    /// This chip's rows of the embedding.
    Tensor embed();
    /// The loss of the last layer's rows and, but in an evaluation step, its backward pass: the rows' gradient. Releases
    /// the rows.
    Tensor unembed(const Tensor& rows);
    /// The embedding's gradient, from that of its rows.
    void embedding_backward(const Tensor& dy);

private:
    /// What the unembedding makes of its rows.
    struct Logits {
        Arriving rows;  ///< complete
        Tensor logits;
        Tensor loss;
    };
    Logits forward(const Tensor& rows);
    /// Logits in chunks are made again, and with them the loss, whose gradient they need.
    void make_again(Logits& made);
    void end_unembedding(const Logits& made, const Tensor& own, OpIndex end);
    /// Of the logits that stand at once, and of their gradient beside them.
    [[nodiscard]] double logit_bytes() const;

    const StageLayout& layout_;
    StepParts& parts_;
    Gradients table_;  ///< of a tied table, begun by the unembedding
};

}  // namespace podsim::workloads
