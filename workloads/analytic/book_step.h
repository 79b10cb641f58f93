// The reference text's time of a training step, at ideal rates whatever the profile.
#pragma once

#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"
#include "workloads/analytic/machine_rates.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// `book`: the reference text's closed forms (section 5), forward and backward separately, with 2DF
/// generalised to the layer's matmul parameters P_layer and the tensor terms once per block
/// (attention, MLP).
///   forward   L max(T_math, T_fsdp + T_tensor),  backward likewise, plus the unembedding.
/// The comment at the head of book_step.cpp states every term and what is left out.
sim::Seconds book_step(const ModelSpec& model, const TrainingPlan& plan,
                       const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
