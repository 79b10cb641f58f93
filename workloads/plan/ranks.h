// The axes of the mesh along which chips do unequal work.
#pragma once

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// A chip's ranks along those axes.
struct Ranks {
    int stage = 0;
    int context = 0;
    int expert = 0;
};

/// True if ranks of the context axis do unequal work: causal attention on contiguous blocks, or in
/// a ring to a window. (For the expert axis see ExpertLoad::uneven.)
bool uneven_context(const TrainingPlan& plan, const ModelSpec& model);

}  // namespace podsim::workloads
