// An inference step of one pipeline stage: prefill, decode, or a mixture of both, for each
// microbatch of its batch.
//
//   embedding: lookup [AllReduce of rows]    layers (inference_layer.h)
//   final norm, logits of last tokens, sampling
// Tables are split over tensor by the vocabulary. Each tensor rank chooses a token from its own
// logits, then an AllReduce of 8 bytes a row finds the largest logit and its index. Afterwards the
// host prepares the next step (Compute::host_turns). With `generate` the prefill and all decode
// steps are one program. A step waits for the previous one, in a pipeline for its tokens, 4 bytes
// each, which come from the last stage.
//
// The stage holds two things from the start: its parameters, with the projections of keys and
// values that ranks beyond the key/value heads repeat, and the cache of its layers, with room for
// the tokens at the end of the step or for those that are reserved.
#pragma once

#include "workloads/plan/ranks.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// Returns the program. `model` has the sizes that are computed (plan/padding.h), and
/// `plan.inference` is set.
StepProgram build_inference(const ModelSpec& model, const TrainingPlan& plan, const Ranks& ranks);

}  // namespace podsim::workloads
