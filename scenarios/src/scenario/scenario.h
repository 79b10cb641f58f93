// A validated, immutable scenario: the content of a YAML file with every default filled in.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/program.h"

namespace podsim::scenarios {

/// An entry of `expect:`: a quantity of the result, its reference value, and its tolerance.
struct Expectation {
    /// A key of the JSON without its unit: `step_time`, `mfu`, ...
    std::string quantity;
    double of = 0;      ///< in the base unit
    double within = 0;  ///< relative: 0.1 for 10 %
    std::string source;
    /// For a published value: A, full configuration known; B, one material unknown or rounded.
    std::string tier;
    /// The factor of a profile that this measurement isolates; empty: none.
    std::string defines;
};

struct TrainingStep;
struct ServingSpec;

/// A training step by value. Files that include `training_step.h` see its members.
class StepValue {
public:
    StepValue();
    StepValue(const StepValue& other);
    StepValue(StepValue&& other) noexcept;
    StepValue& operator=(const StepValue& other);
    StepValue& operator=(StepValue&& other) noexcept;
    ~StepValue();

    [[nodiscard]] const TrainingStep& get() const { return *step_; }
    [[nodiscard]] TrainingStep& get() { return *step_; }

private:
    std::unique_ptr<TrainingStep> step_;
};

struct Scenario {
    std::string name;
    std::string file;
    IdealHardware hardware;
    std::variant<StepValue, Program> work;
    std::vector<Expectation> expectations;
    /// The requests that a server of these steps serves (scenarios/src/scenario/serving_spec.h),
    /// for `podsim serve`; null: none.
    std::shared_ptr<const ServingSpec> serving;

    [[nodiscard]] bool is_program() const { return std::holds_alternative<Program>(work); }
    [[nodiscard]] const Program& program() const { return std::get<Program>(work); }
    /// Returns the step of a scenario that is no program.
    [[nodiscard]] const TrainingStep& step() const { return std::get<StepValue>(work).get(); }
    [[nodiscard]] TrainingStep& step() { return std::get<StepValue>(work).get(); }
};

}  // namespace podsim::scenarios
