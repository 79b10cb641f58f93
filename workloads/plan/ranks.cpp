#include "workloads/plan/ranks.h"

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::workloads {

bool uneven_context(const TrainingPlan& plan, const ModelSpec& model) {
    const bool window =
        plan.overlap.context_steps && model.window > 0 && model.window < plan.batch.sequence;
    return plan.attention.causal && plan.ways.context > 1 &&
           (plan.attention.placement == Placement::plain || window);
}

}  // namespace podsim::workloads
