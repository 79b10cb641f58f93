// A validated, immutable scenario: what a YAML file says once every default is filled in.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/spec/hardware.h"
#include "scenarios/spec/program.h"
#include "topology/mesh/mesh.h"
#include "workloads/analytic/step_flops.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// `expect:` a quantity of the result, the value it is held to, and how near it must be.
struct Expectation {
    std::string quantity;  ///< a key of the JSON without its unit: `step_time`, `mfu`, ...
    double of = 0;         ///< in the base unit
    double within = 0;     ///< relative: 0.1 for 10 %
    std::string source;
};

/// Evaluation steps, forward passes alone, between training steps.
struct Evaluation {
    std::int64_t tokens = 0;  ///< of one evaluation step
    int steps = 0;            ///< evaluation steps of a block ...
    int train_steps = 0;      ///< ... with so many training steps
};

struct ReportOptions {
    std::optional<double> tokens;  ///< token budget of the whole training run
    std::optional<double> usd_per_chip_hour;
    workloads::FlopRule flop_rule = workloads::FlopRule::executed;  ///< of the MFU
    std::optional<double> mfu;                                      ///< that formulas assume
    std::optional<double> parameters;  ///< that formulas count with, in place of the model's
};

struct TrainingStep {
    workloads::ModelSpec model;
    topology::DeviceMesh mesh;
    /// The factors, as the report prints them: `fsdp x/4 y z/2, context z%2, tensor x%4`.
    std::string mesh_text;
    workloads::TrainingPlan plan;
    std::optional<Evaluation> evaluation;
    ReportOptions report;
};

struct Scenario {
    std::string name;
    std::string file;
    IdealHardware hardware;
    std::variant<TrainingStep, Program> work;
    std::vector<Expectation> expectations;

    [[nodiscard]] bool is_program() const { return std::holds_alternative<Program>(work); }
    [[nodiscard]] const Program& program() const { return std::get<Program>(work); }
    /// Of a scenario that is no program.
    [[nodiscard]] const TrainingStep& step() const { return std::get<TrainingStep>(work); }
    [[nodiscard]] TrainingStep& step() { return std::get<TrainingStep>(work); }
};

}  // namespace podsim::scenarios
