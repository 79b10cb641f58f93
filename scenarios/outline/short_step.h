// A step of few layers in place of one of many: what stands between the repeated ones is the same.
//
// A model of n layers whose kinds repeat every p layers is built with n1 and with n1 + p' layers, p' a multiple of p. What both have
// alike tells what every further p' layers add, so that whatever grows evenly with the layers is known for n of them:
//   value(n) = value(n1) + (n - n1) / p' x (value(n1 + p') - value(n1))
// p' is longer than gathers run ahead, and so is what is left on both sides of the stretch of p' layers that is taken for all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/outline/longest_path.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct ShortStep {
    workloads::StepProgram program;  ///< of n1 layers
    workloads::StepProgram longer;   ///< of n1 + p'
    std::int64_t copies = 0;         ///< (n - n1) / p'
    /// Of `program`: each pass over the p' layers that stand for all.
    std::vector<RepeatedStretch> stretches;
    /// Operations of `program` and of `longer` that do the same at the same place counted from the start, or from the end: of an operation
    /// within the p' layers both; kWholeStep where there is none.
    struct Twins {
        workloads::OpIndex from_start = workloads::kWholeStep;
        workloads::OpIndex from_end = workloads::kWholeStep;
    };
    std::vector<Twins> twins;
};

/// None where the model has too few layers to gain by it, stages of a pipeline, or members of unequal work; or where the
/// operations of the two do not correspond.
std::optional<ShortStep> short_step(const workloads::ModelSpec& model,
                                    const workloads::TrainingPlan& plan);

}  // namespace podsim::scenarios
