// The axes of the mesh along which chips do unequal work.
#pragma once

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// A chip's ranks along them.
struct Ranks {
    int stage = 0;
    int context = 0;
    int expert = 0;
};

/// Whether ranks of the context axis do: causal attention on contiguous blocks, or in a ring to a window. (Those of the
/// expert axis: ExpertLoad::uneven.)
bool uneven_context(const TrainingPlan& plan, const ModelSpec& model);

}  // namespace podsim::workloads
