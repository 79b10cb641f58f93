// A step of inference of one pipeline stage: prefill, decode, or a mixture of both, for each microbatch of its batch.
//
//   embedding: lookup [AllReduce of rows]    layers (serve/inference_layer.h)    final norm, logits of last tokens, sampling
// Tables are split over tensor by the vocabulary. A token is chosen by each way from its own logits, then by an AllReduce of
// 8 bytes a row, the largest and where it is.
// Behind it the host turns to the next step (Compute::host_turns). Of `generate` the prefill and all decode steps are one program: a
// step waits for the one before it, in a pipeline for its tokens, 4 bytes each, which come from the last stage.
// Held from the start: the stage's parameters, with the projections of keys and values that ways beyond the key/value heads
// repeat, and its layers' cache, with room for the tokens that there are at the end of the step or are reserved.
#pragma once

#include "workloads/plan/ranks.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// `model` has the sizes that are computed (plan/padding.h), `plan.inference` is there.
StepProgram build_inference(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks);

}  // namespace podsim::workloads
