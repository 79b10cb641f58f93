// The tiles that tokamax chooses for a grouped matmul in bf16 (MaxText's use_tokamax_gmm), where MaxText's own keys are not read.
//
// Shapes that were tuned on tpu7x have a table: until April 2026 in the code, since then as a cache of measurements. For others, on
// tpu7x, whole k and n and at most 1024 rows are halved until they fit into VMEM: of a product its rows, n, k, of a sum k, n, rows.
// Older chips take 128 of each.
// Source: openxla/tokamax, tokamax/_src/ops/ragged_dot/pallas_mosaic_tpu.py: the tables of 4936e75 (19 March 2026), the rules
// (_get_heuristics_config, _fit_within_tpu_vmem) of 783ea95.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace podsim::scenarios {

/// Rows, inner dimension and columns.
using TokamaxTile = std::array<std::int64_t, 3>;

/// One of the six grouped matmuls of experts, by its rows and what its product has as k and n.
struct TokamaxMatmul {
    std::int64_t rows = 0;  ///< of a device
    std::int64_t k = 0;     ///< of the product whose gradients dlhs and drhs are
    std::int64_t n = 0;
    std::int64_t groups = 0;
};
enum class TokamaxPass { forward, dlhs, drhs };

TokamaxTile tokamax_tile(const TokamaxMatmul& matmul, TokamaxPass pass, std::string_view chip);

}  // namespace podsim::scenarios
