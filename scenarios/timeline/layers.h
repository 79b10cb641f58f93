// What a chip's compute stream works on, layer by layer.
#pragma once

#include <string>
#include <vector>

#include "scenarios/run/run_step.h"
#include "scenarios/timeline/timeline.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// Compute operations that follow each other and are of one pass over one layer (or end of the model), of one microbatch.
struct LayerPass {
    std::string
        name;  ///< `forward`, `recompute`, `backward`, `optimizer`, `embedding`, `unembedding`
    workloads::Pass pass{};
    int layer = -1;
    int microbatch = -1;  ///< where the step has several
    sim::Time from;       ///< when the first begins
    sim::Time until;      ///< when the last ends
};

/// In order of time.
std::vector<LayerPass> layer_passes(const workloads::StepProgram& program, const ChipRun& chip);

/// A forward pass over a layer, and a backward pass with what is recomputed for it, each the middle one of the step:
/// from the end of the pass before, so that waits for the first operation are in it. A step without layers has none.
std::vector<SteadyWindow> steady_windows(const std::vector<LayerPass>& passes);

}  // namespace podsim::scenarios
