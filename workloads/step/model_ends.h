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

    /// What the unembedding makes of its rows.
    struct Logits {
        Tensor own;     ///< the rows
        Arriving rows;  ///< complete
        Tensor logits;
        Tensor loss;
    };
    /// Whether more is to be added to a table's gradient in this microbatch.
    enum class Adds { last, more };

    /// This chip's rows of the embedding.
    Tensor embed();
    /// The loss of the last layer's rows and, but in an evaluation step, its backward pass: the rows' gradient. Releases
    /// the rows.
    Tensor unembed(const Tensor& rows);
    /// Its two parts where other losses stand between them, each in a use of its own.
    Logits loss_of(const Tensor& rows);
    Tensor gradient_of(const Logits& made, Adds adds);
    /// The embedding's gradient, from that of its rows.
    void embedding_backward(const Tensor& dy);
    /// The same of the rows of a further token, for which the part under way looked up.
    void add_to_embedding(const Tensor& dy);
    /// Holds what is gathered of the unembedding's table from one operation to another.
    void hold_table(OpIndex from, OpIndex to);

private:
    Logits forward(const Tensor& rows);
    Tensor backward(Logits made, Adds adds);
    /// Logits in chunks are made again, and with them the loss, whose gradient they need.
    void make_again(Logits& made);
    void end_unembedding(const Logits& made, OpIndex end);
    /// Writes rows' gradients into the table's. Returns that.
    Gradients scatter_add(const Tensor& dy, Gradients begun);
    /// Of the logits that stand at once, and of their gradient beside them.
    [[nodiscard]] double logit_bytes() const;
    /// What the parts of the unembedding, or the embedding, reduce.
    [[nodiscard]] Weights of_unembedding() const { return {layout_.unembedding_parameters(), 0}; }
    [[nodiscard]] Weights of_embedding() const { return {layout_.embedding_parameters(), 0}; }

    const StageLayout& layout_;
    StepParts& parts_;
    Gradients table_;    ///< begun by unembeddings, of a tied table to the embedding's backward
    Gradients lookups_;  ///< begun by the lookups of further tokens
};

}  // namespace podsim::workloads
