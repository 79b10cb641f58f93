// The steps of a grouped matmul's grid as an operation has them: FLOPs, bytes and masks of each.
#pragma once

#include <vector>

#include "workloads/plan/expert_matmul.h"
#include "workloads/program/step_program.h"
#include "workloads/tiles/grouped_tiles.h"

namespace podsim::workloads {

/// Bytes of an element of rows and results, and of matrices.
struct ElementBytes {
    double rows = 0;
    double matrices = 0;
};

/// Of so many alike products on all devices. The cores of a device (v4 and v5p: two) deal out the tiles of n,
/// the grid's first dimension, which is `parallel`: of three one has two.
/// Source: kernels/megablox of MaxText (dimension_semantics; mask_k_rem for the operations of a mask).
std::vector<KernelStep> kernel_steps(const GroupedTiles& tiles, const ExpertPath& path,
                                     double products, ElementBytes bytes);

}  // namespace podsim::workloads
