// How large a step's programs are, before they are built.
#pragma once

#include "scenarios/footprint/run_memory.h"
#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// A step's operations grow evenly with its microbatches, once these fill the pipeline: operations = fixed + microbatches x of_each.
struct StepSize {
    double fixed = 0;
    double of_each = 0;
    int microbatches = 1;

    [[nodiscard]] double operations() const { return fixed + of_each * microbatches; }
    [[nodiscard]] double bytes() const {
        return kBytesOfProcess + kBytesOfOperation * operations();
    }
};

/// Of a training step of many microbatches, from the programs of two steps with few; of others, which are built as quickly as
/// estimated, nothing.
StepSize size_of_step(const Scenario& scenario);

/// Throws sim::InputError where the step's programs take more than the process may (memory_limit), with what would fit.
void refuse_beyond_memory(const Scenario& scenario);

}  // namespace podsim::scenarios
