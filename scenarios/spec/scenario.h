// A validated, immutable scenario: what a YAML file says once every default is filled in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/spec/perturbation.h"
#include "sim/base/quantity.h"
#include "sim/workload/machine.h"
#include "topology/chips/chip.h"
#include "topology/chips/efficiency.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"
#include "workloads/analytic/step_flops.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

using sim::LatencyRule;

struct Hardware {
    topology::ChipSpec chip;  ///< with the scenario's overrides applied
    topology::IciRates ici_rates = topology::IciRates::book;
    topology::Point shape{1, 1, 1};
    bool twisted = false;
    topology::Lattice slice;
    int slices = 1;
    double oversubscription = 1;  ///< a host's share of the fabric is its DCN rate over this
    std::string profile = "ideal";
    topology::Efficiency efficiency{};  ///< of that profile
    LatencyRule latency = LatencyRule::additive;
    sim::Bytes message_cap{4.0 * 1024 * 1024};
    std::vector<Perturbation> perturbations;

    /// Of all slices.
    [[nodiscard]] int chips() const { return slice.size() * slices; }
};

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

struct Program;

struct Scenario {
    std::string name;
    std::string file;
    Hardware hardware;
    std::shared_ptr<const Program> program;  ///< in place of a training step: what follows is empty
    workloads::ModelSpec model;
    topology::DeviceMesh mesh;
    std::string
        mesh_text;  ///< the factors, as the report prints them: `fsdp x/4 y z/2, context z%2, tensor x%4`
    workloads::TrainingPlan plan;
    std::optional<Evaluation> evaluation;
    ReportOptions report;
    std::vector<Expectation> expectations;
};

}  // namespace podsim::scenarios
