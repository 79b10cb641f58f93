#include "scenarios/src/scenario/scenario.h"

#include <utility>

#include "scenarios/src/scenario/training_step.h"

namespace podsim::scenarios {

StepValue::StepValue() : step_(std::make_unique<TrainingStep>()) {}

StepValue::StepValue(const StepValue& other)
    : step_(std::make_unique<TrainingStep>(*other.step_)) {}

StepValue::StepValue(StepValue&& other) noexcept = default;

StepValue& StepValue::operator=(const StepValue& other) {
    StepValue copy(other);
    return *this = std::move(copy);
}

StepValue& StepValue::operator=(StepValue&& other) noexcept = default;

StepValue::~StepValue() = default;

}  // namespace podsim::scenarios
