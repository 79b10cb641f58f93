// Everything that a chip's training step is written with: the forward parts, and gradients.
#pragma once

#include <utility>
#include <vector>

#include "workloads/step/forward_parts.h"
#include "workloads/step/gradient_reductions.h"

namespace podsim::workloads {

/// ForwardParts, and the gradients of a training step.
struct StepParts : ForwardParts {
    StepParts(const ModelSpec& model, const TrainingPlan& of_step, const Ranks& ranks,
              std::vector<WeightUse> uses)
        : ForwardParts(model, of_step, ranks, std::move(uses)),
          gradients(*plan, sharding, names, chain, buffers) {}

    GradientReductions gradients;

    void end_use() {
        weights.end_use();
        end_turn();
    }
    /// In a loop of layers (Overlap::layer_loop) ends the current layer with its reductions: the
    /// next operations wait.
    void end_turn() {
        if (bounds.layer_loop) {
            weights.begin_turn(gradients.end_turn());
        }
    }
};

}  // namespace podsim::workloads
