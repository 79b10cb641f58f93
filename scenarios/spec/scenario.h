// A validated, immutable scenario: what a YAML file says once every default is filled in.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/spec/hardware.h"
#include "scenarios/spec/program.h"

namespace podsim::scenarios {

/// `expect:` a quantity of the result, the value it is held to, and how near it must be.
struct Expectation {
    std::string quantity;  ///< a key of the JSON without its unit: `step_time`, `mfu`, ...
    double of = 0;         ///< in the base unit
    double within = 0;     ///< relative: 0.1 for 10 %
    std::string source;
    std::string
        tier;  ///< of a published value: A, full configuration known; B, one material unknown or rounded
    std::string defines;  ///< the factor of a profile that this measurement isolates; empty: none
};

struct TrainingStep;
struct ServingSpec;

/// A training step by value. Its parts are seen by those who include `training_step.h`.
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
    /// The requests that a server of such steps serves (scenarios/serve/serving_spec.h), of `podsim serve`; null: none.
    std::shared_ptr<const ServingSpec> serving;

    [[nodiscard]] bool is_program() const { return std::holds_alternative<Program>(work); }
    [[nodiscard]] const Program& program() const { return std::get<Program>(work); }
    /// Of a scenario that is no program.
    [[nodiscard]] const TrainingStep& step() const { return std::get<StepValue>(work).get(); }
    [[nodiscard]] TrainingStep& step() { return std::get<StepValue>(work).get(); }
};

}  // namespace podsim::scenarios
