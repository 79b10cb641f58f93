#include "scenarios/simulate/step_size.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "scenarios/explain/memory.h"
#include "scenarios/footprint/run_memory.h"
#include "scenarios/spec/training_step.h"
#include "scenarios/text/format.h"
#include "scenarios/watch/memory_limit.h"
#include "sim/base/error.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

/// Fewer than so many times a small step's microbatches are built at once.
constexpr int kManyTimes = 4;
constexpr int kFewMicrobatches = 32;

/// Those of a step with so many microbatches of the same size.
double operations_of(const TrainingStep& step, int microbatches, sim::Bytes hbm) {
    workloads::TrainingPlan plan = step.plan;
    plan.batch.tokens = step.plan.batch.tokens / step.plan.batch.microbatches * microbatches;
    plan.batch.microbatches = microbatches;
    double operations = 0;
    for (const workloads::StepProgram& program :
         workloads::build_stages_that_fit(step.model, plan, hbm).programs) {
        operations += static_cast<double>(program.ops.size());
    }
    return operations;
}

}  // namespace

StepSize size_of_step(const Scenario& scenario) {
    const TrainingStep& step = scenario.step();
    StepSize size{.microbatches = step.plan.batch.microbatches};
    const int stages = std::max(1, step.mesh.size("pipeline"));
    const int few = stages * std::max(2, (kFewMicrobatches + stages - 1) / stages);
    if (step.plan.inference || size.microbatches < kManyTimes * few) {
        return size;
    }
    const sim::Bytes hbm = most_believed(scenario.hardware.chip.usable_hbm());
    const double one = operations_of(step, few, hbm);
    const double two = operations_of(step, 2 * few, hbm);
    size.of_each = (two - one) / few;
    size.fixed = one - size.of_each * few;
    return size;
}

void refuse_beyond_memory(const Scenario& scenario) {
    const StepSize size = size_of_step(scenario);
    const double limit = memory_limit();
    // Of a step whose operations were not counted nothing is known here.
    if (size.bytes() <= limit || size.operations() == 0) {
        return;
    }
    const double most =
        std::floor(((limit - kBytesOfProcess) / kBytesOfOperation - size.fixed) / size.of_each);
    throw BeyondMemory(
        sim::InputError(
            fmt::format(
                "a step of {} microbatches is some {:.3g} operations, whose run takes up to {} of "
                "memory; podsim may take {}",
                size.microbatches, size.operations(), format_bytes(sim::Bytes(size.bytes())),
                format_bytes(sim::Bytes(limit))),
            most >= 1
                ? fmt::format("use at most {:.0f} microbatches, or give more with --memory", most)
                : std::string("use fewer microbatches, or give more with --memory"),
            {scenario.file, 0, 0}),
        size.bytes());
}

}  // namespace podsim::scenarios
