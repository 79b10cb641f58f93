// How wide numbers are: bytes of an element of each kind of state, and the dtype of matmuls; and what keeps that state.
#pragma once

#include <algorithm>

#include "workloads/program/matmul_dtype.h"

namespace podsim::workloads {

/// What updates the parameters: Adam keeps two moments of each, SGD none.
enum class Optimizer { adam, sgd };

/// Bytes of one element of each kind of state, and what projections and MLPs multiply. Attention's dot products,
/// the router and the unembedding are bf16 in every precision; so are activations between operations.
struct Precision {
    double compute = 2;                      ///< activations, other gathered weights (bf16)
    double parameters = 2;                   ///< stored parameters
    double gradients = 2;                    ///< gradients, as stored and as reduced
    double optimizer_moment = 4;             ///< each of Adam's two moments
    MatmulDtype matmul = MatmulDtype::bf16;  ///< all three matmuls of projections, MLPs and experts

    /// An element of a layer's weights, as gathered.
    [[nodiscard]] double weights() const { return matmul == MatmulDtype::bf16 ? compute : 1; }

    /// An element of the parameters that every data way holds under ZeRO-1 and 2; wider master weights are sharded
    /// with the optimizer's state.
    [[nodiscard]] double copy() const { return std::min(compute, parameters); }
};

}  // namespace podsim::workloads
