#include "workloads/plan/inference.h"

#include <algorithm>

namespace podsim::workloads {
namespace {

template <class Of>
std::int64_t sum_over(const std::vector<CachedRun>& runs, Of of) {
    std::int64_t sum = 0;
    for (const CachedRun& run : runs) {
        sum += run.sequences * of(run);
    }
    return sum;
}

}  // namespace

std::int64_t Inference::sequences() const {
    return sum_over(runs, [](const CachedRun&) { return 1; });
}

std::int64_t Inference::tokens() const {
    return sum_over(runs, [](const CachedRun& run) { return run.fresh; });
}

std::int64_t Inference::counted_tokens() const {
    if (generate > 0) {
        return sequences() * generate;
    }
    return sum_over(runs, [](const CachedRun& run) {
        return run.logits == run.fresh ? std::int64_t{1} : run.fresh;
    });
}

std::int64_t Inference::logits() const {
    return sum_over(runs, [](const CachedRun& run) { return run.logits; });
}

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
