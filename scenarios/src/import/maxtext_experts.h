// Import of MaxText's keys for experts into keys of `training`. Private to the folder.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/import/maxtext_import.h"

namespace podsim::scenarios {

/// Rows, inner dimension and columns.
using TokamaxTile = std::array<std::int64_t, 3>;

// Tiles that tokamax chooses for a grouped matmul in bf16 (MaxText's use_tokamax_gmm), which does
// not read MaxText's own keys.
//
// Shapes that were tuned on tpu7x have a table: until April 2026 in the code, since then as a cache
// of measurements. For others, on tpu7x, whole k and n and at most 1024 rows are halved until they
// fit into VMEM. The order for a product is rows, n, k; for a sum it is k, n, rows. Older chips
// take 128 of each.
// Source: openxla/tokamax, tokamax/_src/ops/ragged_dot/pallas_mosaic_tpu.py: the tables of 4936e75
// (19 March 2026), the rules (_get_heuristics_config, _fit_within_tpu_vmem) of 783ea95.

/// One of the six grouped matmuls of experts, by its rows and its product's k and n.
struct TokamaxMatmul {
    std::int64_t rows = 0;  ///< of a device
    std::int64_t k = 0;     ///< of the product whose gradients dlhs and drhs are
    std::int64_t n = 0;
    std::int64_t groups = 0;
};
enum class TokamaxPass { forward, dlhs, drhs };

TokamaxTile tokamax_tile(const TokamaxMatmul& matmul, TokamaxPass pass, std::string_view chip);

/// Returns keys such as `moe: {sort_vjp: scatter-add, tiles: {down_drhs: [512, 768, 4096]}}`.
///
/// The tiles of megablox are m, k and n of each grouped matmul. For a product and for its rows'
/// gradient they are rows, inner dimension and columns. For the gradient of matrices they are the
/// rows that are summed over, and a matrix's rows and columns. Since commit 6ce6ef6 of 2026-04-23
/// each tile is the one that its key names: for wi (gate and up) forward and drhs [batch_seq,
/// embed_dim, mlp_dim], dlhs [batch_seq, mlp_dim, embed_dim]; for wo (down) the reverse. Before,
/// all were taken in the order batch_seq, embed_dim, mlp_dim. A file without `weight_sparsity_m`,
/// which was added the day after, is of that time, and a note says so. With use_tokamax_gmm,
/// without quantization and use_gmm_v2, tokamax has its own tiles (maxtext_experts.cpp), by the
/// rows of a device.
///
/// Source: AI-Hypercomputer/maxtext, src/maxtext/layers/moe.py (get_wi_gmm_params,
/// get_wo_gmm_params; before that commit wi_tile_size, wo_tile_size).
std::vector<std::string> maxtext_experts(MaxTextSettings& settings, const MaxTextMachine& machine,
                                         const MaxTextModel& model, const MaxTextBatch& batch,
                                         const MaxTextMesh& mesh, std::vector<std::string>& notes);

/// True if experts' matmuls are grouped. In a file without sparse_matmul (of 2024) megablox
/// decides: without it, tokens go through masks (MaxText, layers/linears.py: `if cfg.megablox`,
/// else the matmul implementation).
bool maxtext_sparse_matmul(MaxTextSettings& settings);

}  // namespace podsim::scenarios
