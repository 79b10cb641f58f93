// The weight matrices of a layer: their parameters, and which of them are gathered and reduced together.
//
// A matrix is what one matmul of the layer reads. Every norm, bias and table of the layer counts with a matrix, so that
// the parameters of a layer's matrices add up to count_layer(): norms before a block with the block's first matrix
// (those of a parallel block with its attention's), norms of queries, keys and latents and the biases of projections
// with the projection.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "workloads/models/enum_set.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// In the order of a layer's forward pass. Latent attention: `latent` makes the latent vectors, `qkv` what heads see.
/// Routed experts: all of a layer's are one matrix each of `gate_up` and `down`.
enum class Matrix { latent, qkv, out, router, shared_gate_up, shared_down, gate_up, down };
inline constexpr std::array kMatrices{
    Matrix::latent,         Matrix::qkv,         Matrix::out,     Matrix::router,
    Matrix::shared_gate_up, Matrix::shared_down, Matrix::gate_up, Matrix::down};
std::string_view to_string(Matrix matrix);
using MatrixSet = EnumSet<Matrix>;

/// What of a layer is gathered, and reduced, in one piece.
enum class WeightGroups {
    layer,  ///< all of it
    block,  ///< its attention; its MLP, or router and experts
    matmul  ///< each matrix
};
std::string_view to_string(WeightGroups groups);
/// The place of a matrix's group among those of a layer, and its name (empty: the whole layer).
std::size_t group_of(WeightGroups groups, Matrix matrix);
std::string_view name_of_group(WeightGroups groups, std::size_t group);

/// Parameters of a group of weights of the whole model, before any split.
struct Weights {
    double dense = 0;    ///< all but the routed experts
    double experts = 0;  ///< the routed experts
    [[nodiscard]] double total() const { return dense + experts; }
    Weights& operator+=(const Weights& other);
};

/// Parameters of each matrix of a layer; none of a matrix that it lacks.
struct LayerWeights {
    std::array<Weights, kMatrices.size()> by_matrix{};
    [[nodiscard]] const Weights& of(Matrix matrix) const {
        return by_matrix[static_cast<std::size_t>(matrix)];
    }
    [[nodiscard]] bool has(Matrix matrix) const { return of(matrix).total() > 0; }
    [[nodiscard]] Weights of_group(WeightGroups groups, std::size_t group) const;
    [[nodiscard]] Weights total() const { return of_group(WeightGroups::layer, 0); }
};
LayerWeights layer_weights(const ModelSpec& model, LayerKind kind);

}  // namespace podsim::workloads
