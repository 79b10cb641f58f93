// The order in which the passes over a layer read its matrices.
#pragma once

#include <vector>

#include "workloads/models/weights.h"
#include "workloads/plan/ranks.h"

namespace podsim::workloads {

struct TrainingPlan;

struct WeightOrder {
    std::vector<Matrix> forward;
    std::vector<Matrix> backward;  ///< with what runs again
};

/// Found by writing the layer by itself, with the plan's remat and overlapped forms.
WeightOrder weight_order(const ModelSpec& model, TrainingPlan plan, const Ranks& ranks, int layer);

/// The matrices whose forward matmuls run again in the backward pass.
MatrixSet matrices_again(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                         int layer);

}  // namespace podsim::workloads
