// The two ends of the model in a step: embedding, and unembedding with the loss.
//
// Tied embeddings: the table is gathered for both uses. Its gradient, summed over both, is
// reduced once a microbatch, after the embedding's backward pass. In a pipeline two stages hold
// it and exchange their gradients. The unembedding's weight gradient is never postponed, so that
// no logits are kept.
//
// With T > 1 the tables are split over the vocabulary (and D, row_exchange.h). The lookup's partial
// rows are scattered, logits are made of gathered rows, and each token's maximum and sum (4-byte
// values) are all-reduced.
#pragma once

#include "workloads/step/stage_layout.h"
#include "workloads/step/step_parts.h"

namespace podsim::workloads {

/// Writer of the embedding, the unembedding and the losses.
class ModelEnds {
public:
    ModelEnds(const StageLayout& layout, StepParts& parts) : layout_(layout), parts_(parts) {}

    /// Output of the unembedding for its rows.
    struct Logits {
        Tensor own;     ///< the rows
        Arriving rows;  ///< complete
        Tensor logits;
        Tensor loss;
    };
    /// Contribution to a table's gradient: the last of this microbatch, or one with more to follow.
    enum class Adds { last, more };

    /// Returns this chip's rows of the embedding.
    Tensor embed();
    /// Runs the loss of the last layer's rows and, except in an evaluation step, its backward pass.
    /// Returns the rows' gradient and releases the rows.
    Tensor unembed(const Tensor& rows);
    /// The two steps of unembed() if other losses stand between them, each in a use of its own.
    Logits loss_of(const Tensor& rows);
    Tensor gradient_of(const Logits& made, Adds adds);
    /// Adds the embedding's gradient, from that of its rows, and reduces it.
    void embedding_backward(const Tensor& dy);
    /// Adds the same for the rows of a further token, which the current part has looked up.
    void add_to_embedding(const Tensor& dy);
    /// Holds the gathered table of the unembedding from one operation to another.
    void hold_table(OpIndex from, OpIndex to);

private:
    Logits forward(const Tensor& rows);
    Tensor backward(Logits made, Adds adds);
    /// Repeats logits in chunks, and with them the loss, whose gradient they need.
    void make_again(Logits& made);
    void end_unembedding(const Logits& made, OpIndex end);
    /// Adds rows' gradients to the table's. Returns the table's gradients.
    Gradients scatter_add(const Tensor& dy, Gradients begun);
    /// Returns the bytes of the logits that exist at once, equal to those of their
    /// gradient beside them.
    [[nodiscard]] double logit_bytes() const;
    /// Return the weights whose gradients the unembedding, or the embedding, reduces.
    [[nodiscard]] Weights of_unembedding() const { return {layout_.unembedding_parameters(), 0}; }
    [[nodiscard]] Weights of_embedding() const { return {layout_.embedding_parameters(), 0}; }

    const StageLayout& layout_;
    StepParts& parts_;
    /// Gradients that unembeddings begin; a tied table's continue in the embedding's backward pass.
    Gradients table_;
    Gradients lookups_;  ///< begun by the lookups of further tokens
};

}  // namespace podsim::workloads
