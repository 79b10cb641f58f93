// The widths of numbers: bytes of an element of each kind of state, and the dtype of matmuls; and
// the optimizer, which keeps that state.
#pragma once

#include <algorithm>

#include "workloads/models/weights.h"
#include "workloads/plan/matmul_dtype.h"

namespace podsim::workloads {

/// The optimizer of the parameters: Adam keeps two moments of each, Lion one, SGD none. Adafactor
/// keeps the mean squares of a matrix's rows and columns, which are negligible.
enum class Optimizer { adam, lion, adafactor, sgd };
constexpr double moments_of(Optimizer optimizer) {
    return optimizer == Optimizer::adam ? 2 : optimizer == Optimizer::lion ? 1 : 0;
}
constexpr std::string_view to_string(Optimizer optimizer) {
    constexpr std::array<std::string_view, 4> kNames{"Adam", "Lion", "Adafactor", "SGD"};
    return kNames[static_cast<std::size_t>(optimizer)];
}

/// The source of the scales of quantised operands. `dynamic`: the largest magnitude of the operand
/// itself, along the axis that the matmul contracts (AQT int8, Qwix's default); `delayed`: those of
/// earlier steps; `fixed`: constants.
enum class Scaling { dynamic, delayed, fixed };
constexpr std::string_view to_string(Scaling scaling) {
    constexpr std::array<std::string_view, 3> kNames{"dynamic", "delayed", "fixed"};
    return kNames[static_cast<std::size_t>(scaling)];
}

/// Bytes of one element of each kind of state, and the operands of projections and MLPs.
/// Attention's dot products, the router and the unembedding are bf16 in every precision; so are
/// activations between operations.
struct Precision {
    double compute = 2;            ///< activations, other gathered weights (bf16)
    double parameters = 2;         ///< stored parameters
    double expert_parameters = 0;  ///< in inference: stored routed experts; 0: as others
    double table_parameters = 0;   ///< in inference: embeddings and unembedding; 0: as others
    double gradients = 2;          ///< gradients, as stored and as reduced
    double optimizer_moment = 4;   ///< each of Adam's two moments
    double logits = 2;             ///< logits and their gradient, as written and read
    MatmulDtype matmul = MatmulDtype::bf16;  ///< all three matmuls of projections, MLPs and experts
    Scaling scaling = Scaling::delayed;      ///< of quantised matmuls
    /// Dense weights are quantised as shards, and a gather moves 1 byte an element. Elementwise
    /// work on an operand stays at its shards (GSPMD), and for dynamic scales only the largest
    /// magnitudes are AllReduced.
    bool quantised_gather = true;
    /// The same for routed experts. Kernels of grouped matmuls gather them unquantised, unless
    /// their scales are known before.
    bool quantised_expert_gather = true;
    /// Inference: weights are gathered as they are stored, in any matmul dtype.
    bool stored_gather = false;
    /// Dense matrices whose backward matmuls are both bf16 though the forward one is quantised.
    MatrixSet bf16_backward{};

    [[nodiscard]] double stored_experts() const {
        return expert_parameters > 0 ? expert_parameters : parameters;
    }
    [[nodiscard]] double stored_tables() const {
        return table_parameters > 0 ? table_parameters : parameters;
    }
    [[nodiscard]] bool stored_alike() const {
        return expert_parameters == 0 && table_parameters == 0;
    }
    /// Sets the stored element of all parameters.
    void store(double element) {
        parameters = element;
        expert_parameters = table_parameters = 0;
    }
    /// Returns the bytes of an element of a layer's dense weights, as gathered forward.
    [[nodiscard]] double weights() const { return gathered(quantised_gather); }
    /// Returns the same for routed experts.
    [[nodiscard]] double expert_weights() const {
        return stored_gather ? stored_experts() : gathered(quantised_expert_gather);
    }
    /// Returns the bytes of an element of a dense matrix, as gathered backward; `again` if its
    /// forward matmul may run again there. A dynamic scale follows the axis that a matmul
    /// contracts, which is the other axis in the gradient of rows. Each of the two matmuls
    /// therefore has a copy of its own.
    [[nodiscard]] double weights_backward(Matrix matrix, bool again) const {
        const double back = bf16_backward.has(matrix) ? plain_weights() : weights();
        return back + (quantised_gather ? copy_again(again) : 0);
    }
    /// Returns the same for routed experts.
    [[nodiscard]] double expert_weights_backward(bool again) const {
        return expert_weights() + (quantised_expert_gather ? copy_again(again) : 0);
    }
    /// Returns the same for weights that are multiplied in bf16: tables, and `bf16_backward` in the
    /// backward pass.
    [[nodiscard]] double plain_weights() const { return stored_gather ? stored_tables() : compute; }
    /// True if a matmul in the plan's precision searches its operands for their largest magnitudes.
    [[nodiscard]] bool finds_scales() const {
        return matmul != MatmulDtype::bf16 && scaling == Scaling::dynamic;
    }

    /// Returns the bytes of an element of the parameters that every data rank holds under ZeRO-1
    /// and 2; wider master weights are sharded with the optimizer's state.
    [[nodiscard]] double copy() const { return std::min(compute, parameters); }
    friend bool operator==(const Precision&, const Precision&) = default;

private:
    [[nodiscard]] double gathered(bool quantised) const {
        if (stored_gather) {
            return parameters;
        }
        return matmul == MatmulDtype::bf16 || !quantised ? compute : 1;
    }
    [[nodiscard]] double copy_again(bool again) const {
        return again && !stored_gather && finds_scales() ? 1 : 0;
    }
};

}  // namespace podsim::workloads
