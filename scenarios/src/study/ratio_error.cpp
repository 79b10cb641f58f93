#include "scenarios/src/study/ratio_error.h"

#include <algorithm>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/study/band.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

bool same_model(const Measurement& one, const Measurement& other) {
    const workloads::ModelSpec& a = one.scenario->step().model;
    const workloads::ModelSpec& b = other.scenario->step().model;
    return a.name == b.name &&
           workloads::count_parameters(a).total == workloads::count_parameters(b).total;
}

bool comparable(const Measurement& one, const Measurement& other) {
    return one.what == Measured::step && other.what == Measured::step && one.chip == other.chip &&
           one.kind == other.kind && same_model(one, other);
}

}  // namespace

RatioErrors ratio_errors(std::span<const Measurement> measurements,
                         const std::vector<double>& predicted_s) {
    std::vector<double> errors;
    for (std::size_t i = 0; i < measurements.size(); ++i) {
        for (std::size_t k = i + 1; k < measurements.size(); ++k) {
            const Measurement& a = measurements[i];
            const Measurement& b = measurements[k];
            if (predicted_s[i] > 0 && predicted_s[k] > 0 && comparable(a, b)) {
                errors.push_back(std::abs(std::log(predicted_s[i] / predicted_s[k]) -
                                          std::log(a.measured_s / b.measured_s)));
            }
        }
    }
    return {.pairs = errors.size(),
            .four_of_five = four_of_five(errors),
            .worst = errors.empty() ? 0 : std::ranges::max(errors)};
}

}  // namespace podsim::scenarios
