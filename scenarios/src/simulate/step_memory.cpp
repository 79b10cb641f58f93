#include "scenarios/src/simulate/step_memory.h"

#include <algorithm>
#include <utility>

namespace podsim::scenarios {
namespace {

/// Settings whose last key changes only the machine follow each other, on a few threads.
constexpr std::size_t kLastFew = 16;

}  // namespace

std::shared_ptr<const BuiltStep> StepMemory::programs(const workloads::ModelSpec& model,
                                                      const workloads::TrainingPlan& plan,
                                                      sim::Bytes usable,
                                                      const std::function<BuiltStep()>& build) {
    {
        const std::scoped_lock lock(building_);
        const auto found = std::ranges::find_if(built_, [&](const Built& one) {
            return one.usable == usable && one.plan == plan && one.model == model;
        });
        if (found != built_.end()) {
            return found->step;
        }
    }
    auto step = std::make_shared<const BuiltStep>(build());
    const std::scoped_lock lock(building_);
    built_.push_front({model, plan, usable, step});
    if (built_.size() > kLastFew) {
        built_.pop_back();
    }
    return step;
}

}  // namespace podsim::scenarios
