// What MaxText's keys say of experts: keys of `training`. Private to the folder.
#pragma once

#include <string>
#include <vector>

#include "scenarios/import/maxtext_import.h"

namespace podsim::scenarios {

/// As in `moe: {sort_vjp: scatter-add, tiles: {down_drhs: [512, 768, 4096]}}`.
///
/// The tiles of megablox are m, k and n of each grouped matmul: rows, inner dimension and columns of a product and of its
/// rows' gradient; of the gradient of matrices those that are summed over, and a matrix's rows and columns. Since commit
/// 6ce6ef6 of 2026-04-23 each is what its key names: of wi (gate and up) forward and drhs [batch_seq, embed_dim, mlp_dim],
/// dlhs [batch_seq, mlp_dim, embed_dim]; of wo (down) the reverse. Before, all were taken in the order batch_seq, embed_dim,
/// mlp_dim. A file without `weight_sparsity_m`, which came the day after, is of that time, and a note says so.
/// Source: AI-Hypercomputer/maxtext, src/maxtext/layers/moe.py (get_wi_gmm_params, get_wo_gmm_params;
/// before that commit wi_tile_size, wo_tile_size).
/// With use_tokamax_gmm, without quantization and use_gmm_v2, tokamax has its own (tokamax_tiles.h), by the rows of a device.
std::vector<std::string> maxtext_experts(MaxTextSettings& settings, const MaxTextMachine& machine,
                                         const MaxTextModel& model, const MaxTextBatch& batch,
                                         const MaxTextMesh& mesh, std::vector<std::string>& notes);

/// Whether experts' matmuls are grouped. In a file without sparse_matmul (of 2024) megablox says it: tokens of the others go
/// through masks (MaxText, layers/linears.py: `if cfg.megablox`, else the matmul implementation).
bool maxtext_sparse_matmul(MaxTextSettings& settings);

}  // namespace podsim::scenarios
