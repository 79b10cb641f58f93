#include "workloads/layers/weight_order.h"

#include <algorithm>

#include "workloads/layers/layer_backward.h"
#include "workloads/layers/split_backward.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {

WeightOrder weight_order(const ModelSpec& model, TrainingPlan plan, const Ranks& ranks, int layer) {
    plan.overlap.weights = WeightGroups::layer;
    WeightUse use;
    use.layer = layer;
    std::vector<WeightUse> uses{use, use};
    uses.back().pass = Pass::backward;
    StepParts parts(model, plan, ranks, uses);
    const LayerKind kind = layer_kind(model, layer);
    parts.begin_use();
    LayerForward forward = layer_forward(parts, parts.remat, kind, {});
    parts.end_use();
    parts.begin_use();
    bring_back(parts, forward.saved);
    if (plan.pipeline.schedule == PipelineSchedule::zero_bubble) {
        SplitBackward(parts, kind, forward.saved).input_gradients(forward.output);
    } else {
        layer_backward(parts, parts.remat, kind, forward.saved, forward.output);
    }
    parts.end_use();
    return {parts.weights.matrices_read().front(), parts.weights.matrices_read().back()};
}

MatrixSet matrices_again(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks,
                         int layer) {
    TrainingPlan keeps_all = plan;
    keeps_all.remat = {.policy = RematPolicy::none};
    const std::vector<Matrix> read = weight_order(model, plan, ranks, layer).backward;
    const std::vector<Matrix> once = weight_order(model, keeps_all, ranks, layer).backward;
    MatrixSet again;
    for (const Matrix matrix : kMatrices) {
        if (std::ranges::count(read, matrix) > std::ranges::count(once, matrix)) {
            again.add(matrix);
        }
    }
    return again;
}

}  // namespace podsim::workloads
