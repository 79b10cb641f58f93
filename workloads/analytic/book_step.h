// The reference text's time of a training step, at ideal rates whatever the profile.
#pragma once

#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/analytic/weight_loading.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

struct BookEstimate {
    sim::Seconds time;
    WeightLoading loading{};
};

/// `book`: the reference text's closed forms (section 5), forward and backward separately, with 2DF
/// generalised to the layer's matmul parameters P_layer and the tensor terms once per block
/// (attention, MLP).
///   forward   L max(T_math, T_fsdp + T_tensor),  backward likewise, plus the unembedding.
/// Where the HBM is shared (MachineRates::hbm_shared) T_math is not below the time to load the weights from it, the text's
/// section 7. The comment at the head of book_step.cpp states every term and what is left out.
BookEstimate book_step(const ModelSpec& model, const TrainingPlan& plan,
                       const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
