// The computation of routed experts: their matmuls, and the operations around them
// (work/experts_work.h has the work).
//
// Source: MaxText, layers/moe.py (permute, unpermute, sparse_matmul; generate_masks, dense_matmul)
// and kernels/megablox/gmm.py; the settings are sparse_matmul, capacity_factor, wi_tile_*,
// wo_tile_* and use_custom_sort_vjp.
#pragma once

namespace podsim::workloads {

enum class ExpertMatmul {
    /// Rows copied for their experts, matmuls of exactly these: the count of closed forms.
    ideal,
    sparse,  ///< rows sorted by expert and one grouped matmul (megablox), which drops nothing
    /// Masks bring rows to their experts, each of which has a capacity; rows beyond it are dropped.
    dense,
    dense_of_all,  ///< no capacity: every expert computes every token
};

/// Rows, inner dimension and columns of a grouped matmul's tiles. For the gradient of matrices k x
/// n are their rows and columns, and m the rows that are summed over.
struct ExpertTile {
    double m = 512;
    double k = 1024;
    double n = 1024;

    friend bool operator==(const ExpertTile&, const ExpertTile&) = default;
};

/// Tiles of a product, of the gradient of its rows (dlhs) and of that of its matrices (drhs).
struct ExpertTiles {
    ExpertTile forward{};
    ExpertTile dlhs{};
    ExpertTile drhs{};

    friend bool operator==(const ExpertTiles&, const ExpertTiles&) = default;
};

struct ExpertPath {
    ExpertMatmul matmul = ExpertMatmul::ideal;
    ExpertTiles gate_up{};
    ExpertTiles down{};
    /// sparse: the kernel and tiles of serving engines (served_tiles.h), not those above.
    bool served = false;
    /// Inference: each tensor rank has whole experts, which meet all tokens there, and not columns
    /// of all experts.
    bool whole = false;
    /// JAX devices of a chip in training: each sorts its own tokens, and tiles and fetches for
    /// itself.
    int devices = 1;
    /// Cores of the chip, one or several for each device: a kernel's tiles of n are distributed
    /// over those of a device.
    int cores = 1;
    /// sparse: the gradient of sorting rows is the sort back; otherwise a scatter-add into zeros,
    /// as for any gather.
    bool custom_sort_vjp = true;

    [[nodiscard]] bool sparse() const { return matmul == ExpertMatmul::sparse; }
    [[nodiscard]] bool dense() const { return matmul == ExpertMatmul::dense; }
    [[nodiscard]] bool of_all() const { return matmul == ExpertMatmul::dense_of_all; }
    friend bool operator==(const ExpertPath&, const ExpertPath&) = default;
};

}  // namespace podsim::workloads
