// The order in which a pipeline stage works: forward, backward and weight-gradient passes of its
// chunks of layers for each microbatch.
//
// There are p stages, m microbatches and v chunks a stage; chunk c of stage s is the virtual stage
// c p + s, an equal run of layers. F, B, W are the times of a stage's forward, input-gradient and
// weight-gradient pass for one microbatch. With all stages alike and sends free, a step takes
// m (F + B + W) and the bubble
//   GPipe        all forwards, then all backwards       (p - 1) (F + B + W)      in flight: m
//   1F1B         p - s - 1 forwards ahead, then one      (p - 1) (F + B + W)      p - s
//                backward for each
//   interleaved  1F1B over v chunks, Megatron-LM's       (p - 1) (F + B + W) / v  v p + p - 1 - 2 s
//                order; m is a multiple of p                                  chunks
//   zero-bubble  ZB-H1: as 1F1B, input gradients sent    (p - 1) (F + B - W)      p (B, F >= W)
//                on at once; stage s makes weight
//                gradients s microbatches later
// where in flight counts microbatches whose activations a stage holds. (Huang et al., GPipe, 2019;
// Narayanan et al., PipeDream-Flush 2021 and Megatron-LM 2021; Qi et al., Zero Bubble, 2024.) With
// m = p, interleaved does all forwards first, as Megatron-LM does.
#pragma once

#include <string_view>
#include <vector>

#include "sim/base/quantity.h"

namespace podsim::workloads {

struct TrainingPlan;

/// The order in which stages take their microbatches, as the file comment states it.
enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zero_bubble };

struct Pipeline {
    PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
    int chunks = 1;  ///< v: runs of layers of a stage, for the interleaved schedule
    friend bool operator==(const Pipeline&, const Pipeline&) = default;
};

/// Returns `gpipe`, `1f1b`, `interleaved` or `zero_bubble`.
std::string_view to_string(PipelineSchedule schedule);

struct PipelineUnit {
    /// `backward` makes weight gradients too, unless the schedule has passes of their own.
    enum class Kind { forward, backward, weights };
    Kind kind{};
    int chunk = 0;
    int microbatch = 0;

    friend bool operator==(const PipelineUnit&, const PipelineUnit&) = default;
};

/// Returns the units of stage `stage`, in order. Without a pipeline: each microbatch's forward and
/// backward pass. For an evaluation step (plan.forward_only): the forward passes.
std::vector<PipelineUnit> stage_order(const TrainingPlan& plan, int stage);

/// F, B and W of one microbatch: the compute of a stage in the forward passes of its layers, in
/// their backward passes without weight gradients (but with recomputation), and for weight
/// gradients.
struct PassTimes {
    sim::Seconds forward;
    sim::Seconds input_gradients;
    sim::Seconds weight_gradients;
};

/// Returns the bubble's fraction of a step, which takes m (F + B + W) and the bubble: (p - 1) / (v
/// m + p - 1) for any pass times. The zero-bubble schedule has (p - 1) (F + B - W), and no bubble
/// if W exceeds F + B.
double bubble_fraction(const TrainingPlan& plan, const PassTimes& times);

}  // namespace podsim::workloads
