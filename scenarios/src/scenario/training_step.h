// A training step as a scenario describes it: model, mesh, plan, and report options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "topology/mesh/mesh.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

/// Evaluation steps between training steps: forward passes alone.
struct Evaluation {
    std::int64_t tokens = 0;  ///< of one evaluation step
    int steps = 0;            ///< evaluation steps of a block
    int train_steps = 0;      ///< training steps of a block
};

struct ReportOptions {
    std::optional<double> tokens;  ///< token budget of the whole training run
    std::optional<double> usd_per_chip_hour;
    workloads::FlopRule flop_rule = workloads::FlopRule::executed;  ///< of the MFU
    std::optional<double> mfu;                                      ///< assumed by formulas
    /// Parameters with which formulas count, in place of the model's.
    std::optional<double> parameters;
    std::optional<double> output_tokens;  ///< tokens of a query, assumed by formulas
    /// Activations of width D per layer, with which formulas count.
    std::optional<double> checkpoints;
};

struct TrainingStep {
    workloads::ModelSpec model;
    /// The first mesh of its kind (DeviceMesh::first_of_kind), so that no tie depends on which of
    /// equal axes the scenario calls x.
    topology::DeviceMesh mesh;
    /// The factors of each axis of the mesh, as the scenario has them: `x/4 y z/2`.
    std::vector<std::string> mesh_axes;
    workloads::TrainingPlan plan;
    std::optional<Evaluation> evaluation;
    ReportOptions report;
};

}  // namespace podsim::scenarios
