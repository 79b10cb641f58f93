// A training step as a scenario describes it: model, mesh, plan, what is reported of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "topology/mesh/mesh.h"
#include "workloads/analytic/step_flops.h"
#include "workloads/models/model.h"
#include "workloads/plan/plan.h"

namespace podsim::scenarios {

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
    std::optional<double> parameters;     ///< that formulas count with, in place of the model's
    std::optional<double> output_tokens;  ///< of a query, that formulas assume
    std::optional<double> checkpoints;    ///< activations of width D a layer, that formulas count
};

struct TrainingStep {
    workloads::ModelSpec model;
    /// The first of its kind (DeviceMesh::first_of_kind): no tie is broken by which of equal axes the scenario calls x.
    topology::DeviceMesh mesh;
    /// The factors of each axis of the mesh, as the scenario has them: `x/4 y z/2`.
    std::vector<std::string> mesh_axes;
    workloads::TrainingPlan plan;
    std::optional<Evaluation> evaluation;
    ReportOptions report;
};

}  // namespace podsim::scenarios
