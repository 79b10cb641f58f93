// How large a step's programs are, before they are built.
#pragma once

#include "scenarios/spec/scenario.h"

namespace podsim::scenarios {

/// What a run maps of memory for each operation of its programs at the most, from being built to the end of the run: measured, 780 to
/// 960 bytes in steps of 208 thousand to 2.8 million operations (of which some 600 are resident; arrays that grow are there twice).
inline constexpr double kBytesPerOperation = 960;

/// A step's operations grow evenly with its microbatches, once these fill the pipeline: operations = fixed + microbatches x of_each.
struct StepSize {
    double fixed = 0;
    double of_each = 0;
    int microbatches = 1;

    [[nodiscard]] double operations() const { return fixed + of_each * microbatches; }
    [[nodiscard]] double bytes() const { return kBytesPerOperation * operations(); }
};

/// Of a training step of many microbatches, from the programs of two steps with few; of others, which are built as quickly as
/// estimated, nothing.
StepSize size_of_step(const Scenario& scenario);

/// Throws sim::InputError where the step's programs take more than the process may (memory_limit), with what would fit.
void refuse_beyond_memory(const Scenario& scenario);

}  // namespace podsim::scenarios
