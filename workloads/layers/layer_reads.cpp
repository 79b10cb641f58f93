#include "workloads/layers/layer_reads.h"

#include "workloads/layers/split_backward.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {

LayerReads reads_of_layer(const ModelSpec& model, TrainingPlan plan, const Ranks& ranks,
                          int layer) {
    plan.overlap.weights = WeightGroups::layer;
    WeightUse use;
    use.layer = layer;
    std::vector<WeightUse> uses{use, use};
    uses.back().pass = Pass::backward;
    StepBuilder builder(model, plan, ranks, uses, 0);
    const LayerKind kind = layer_kind(model, layer);
    builder.begin_use();
    const LayerBuffers saved = layer_forward(builder, kind);
    builder.end_use();
    builder.begin_use();
    if (plan.pipeline.schedule == PipelineSchedule::zero_bubble) {
        SplitBackward(builder, kind, saved).input_gradients();
    } else {
        layer_backward(builder, kind, saved);
    }
    builder.end_use();
    return {builder.matrices_read().front(), builder.matrices_read().back()};
}

}  // namespace podsim::workloads
