// A step of few layers that stands for one of many: the operations between the repeated ones are
// the same.
//
// A model of n layers whose kinds repeat every p layers is built with n1 and with n1 + p' layers,
// where p' is a multiple of p. The operations that both have alike show what every further p'
// layers add. Every value that grows evenly with the layers is thus known for n of them:
//   value(n) = value(n1) + (n - n1) / p' x (value(n1 + p') - value(n1))
// p' is longer than gathers run ahead, and so are the margins on both sides of the stretch of p'
// layers that is taken for all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenarios/src/search/longest_path.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

struct ShortStep {
    workloads::StepProgram program;  ///< of n1 layers
    workloads::StepProgram longer;   ///< of n1 + p'
    std::int64_t copies = 0;         ///< (n - n1) / p'
    /// In `program`: each pass over the p' layers that stand for all.
    std::vector<RepeatedStretch> stretches;
    /// Operations of `program` and of `longer` that do the same at the same position, counted from
    /// the start or from the end. An operation within the p' layers has both; kWholeStep means that
    /// there is none.
    struct Twins {
        workloads::OpIndex from_start = workloads::kWholeStep;
        workloads::OpIndex from_end = workloads::kWholeStep;
    };
    std::vector<Twins> twins;
};

/// Returns none if the model has too few layers to gain by it, stages of a pipeline, or members of
/// unequal work, or if the operations of the two do not correspond.
std::optional<ShortStep> short_step(const workloads::ModelSpec& model,
                                    const workloads::TrainingPlan& plan);

}  // namespace podsim::scenarios
