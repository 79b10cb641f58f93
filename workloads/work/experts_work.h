// What the operations of a layer's routed experts cost one chip: the router, the experts' own matmuls, and the copies of rows
// for them. Symbols and equations as in work.h. (Shared experts are an MLP of work.h.)
#pragma once

#include "workloads/program/step_program.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

/// Norm, router and copies of the rows for their experts.
Compute router_forward(const Shard& shard);
Compute router_input_gradient(const Shard& shard);
Compute router_weight_gradient(const Shard& shard);
Compute experts_gate_up_forward(const Shard& shard);
Compute experts_down_forward(const Shard& shard);
Compute experts_down_input_gradient(const Shard& shard);
Compute experts_down_weight_gradient(const Shard& shard);
Compute experts_gate_up_input_gradient(const Shard& shard);
Compute experts_gate_up_weight_gradient(const Shard& shard);
/// Sums the experts' outputs of each token; its backward copies the gradient, and reads the outputs for the gradient of the router's
/// weights.
Compute combine_forward(const Shard& shard);
Compute combine_gradient(const Shard& shard);

}  // namespace podsim::workloads
