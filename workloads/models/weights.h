// The weight matrices of a layer: their parameters, and the groups that are gathered and reduced
// together.
//
// A matrix is the operand of one matmul of the layer. Every norm, bias and table of the layer
// counts with a matrix, so that the parameters of a layer's matrices add up to count_layer(). Norms
// before a block count with the block's first matrix (in a parallel block with its attention's).
// Norms of queries, keys and latents and the biases of projections count with the projection.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "workloads/models/model.h"

namespace podsim::workloads {

/// A set over an enumeration with at most 32 values, numbered from 0.
template <class Enum>
class EnumSet {
public:
    constexpr EnumSet() = default;
    constexpr EnumSet(std::initializer_list<Enum> values) {
        for (const Enum value : values) {
            add(value);
        }
    }
    constexpr void add(Enum value) { bits_ |= 1U << static_cast<unsigned>(value); }
    constexpr void remove(Enum value) { bits_ &= ~(1U << static_cast<unsigned>(value)); }
    [[nodiscard]] constexpr bool has(Enum value) const {
        return (bits_ >> static_cast<unsigned>(value) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    friend constexpr EnumSet operator|(EnumSet a, EnumSet b) {
        a.bits_ |= b.bits_;
        return a;
    }
    friend constexpr EnumSet operator&(EnumSet a, EnumSet b) {
        a.bits_ &= b.bits_;
        return a;
    }
    friend constexpr EnumSet operator-(EnumSet a, EnumSet b) {
        a.bits_ &= ~b.bits_;
        return a;
    }
    friend constexpr bool operator==(EnumSet, EnumSet) = default;

private:
    unsigned bits_ = 0;
};

/// Matrices in the order of a layer's forward pass. In latent attention, `latent` makes the latent
/// vectors, and `qkv` projects them for the heads. All routed experts of a layer are one matrix
/// each of `gate_up` and `down`.
enum class Matrix { latent, qkv, out, router, shared_gate_up, shared_down, gate_up, down };
inline constexpr std::array kMatrices{
    Matrix::latent,         Matrix::qkv,         Matrix::out,     Matrix::router,
    Matrix::shared_gate_up, Matrix::shared_down, Matrix::gate_up, Matrix::down};
std::string_view to_string(Matrix matrix);
using MatrixSet = EnumSet<Matrix>;

/// The weights of a layer that are gathered, and reduced, together.
enum class WeightGroups {
    layer,  ///< the whole layer
    block,  ///< its attention; its MLP, or router and experts
    matmul  ///< each matrix
};
std::string_view to_string(WeightGroups groups);
/// Returns the index of a matrix's group among those of a layer; the next function returns the name
/// of a group (empty: the whole layer).
std::size_t group_of(WeightGroups groups, Matrix matrix);
std::string_view name_of_group(WeightGroups groups, std::size_t group);

/// Parameters of a group of weights of the whole model, before any split.
struct Weights {
    double dense = 0;    ///< all but the routed experts
    double experts = 0;  ///< the routed experts
    [[nodiscard]] double total() const { return dense + experts; }
    Weights& operator+=(const Weights& other);
};

/// Parameters of each matrix of a layer; none if the layer lacks it.
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
