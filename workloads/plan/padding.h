// The padding of GSPMD if the tensor ways do not divide a dimension.
//
// A dimension of d on n ways gets shards of ceil(d / n), and every rank computes and holds that
// much (XLA, service/spmd/spmd_partitioner_util.h: GetPaddedShapeForUnevenPartitioning): n ceil(d /
// n) in all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/plan/ways.h"

namespace podsim::workloads {

struct Padding {
    std::string what;  ///< `query heads`
    std::int64_t size = 0;
    std::int64_t padded = 0;
};

/// The split if tensor has more ways than there are key/value heads: in training their columns are
/// split, in inference ranks repeat the same heads.
enum class KeyHeads { split, repeated };

/// Returns the dimensions of a model that those ways pad; none if the ways divide all. With whole
/// experts (ExpertPath::whole) only the shared experts are split, which have as many columns.
std::vector<Padding> paddings(const ModelSpec& model, const Ways& ways,
                              KeyHeads heads = KeyHeads::split, bool whole_experts = false);

/// Returns the model as it is computed: with padded sizes. The same model if nothing is padded.
ModelSpec padded(const ModelSpec& model, const Ways& ways, KeyHeads heads = KeyHeads::split,
                 bool whole_experts = false);

}  // namespace podsim::workloads
