#include "workloads/plan/inference.h"

#include <algorithm>

namespace podsim::workloads {

std::vector<Inference> steps_of(const Inference& inference) {
    Inference one = inference;
    one.generate = 0;
    if (inference.generate == 0) {
        return {one};
    }
    const CachedRun prefill = inference.runs.front();
    one.reserved =
        std::max(inference.reserved, prefill.cached + prefill.fresh + inference.generate - 1);
    std::vector<Inference> steps{one};
    for (std::int64_t token = 1; token < inference.generate; ++token) {
        one.runs = {{prefill.sequences, 1, prefill.cached + prefill.fresh + token - 1, 1}};
        steps.push_back(one);
    }
    return steps;
}

}  // namespace podsim::workloads
