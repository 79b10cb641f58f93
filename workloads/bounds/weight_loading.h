// HBM bytes that a chip reads and writes for the weights of a pass, for estimates in which loading
// them counts (book_step.h).
//
// Symbols as in book_step.h; P = matmul parameters of a layer without its routed experts, Q those
// of all its routed experts, touched the fraction of Q that gets rows: min(1, E t k / experts), at
// most one row for each; s bytes of an element as it is read, gathered or, if nothing is gathered,
// stored. Bytes of a chip:
//   forward   w = P / T s + touched Q / (T E) s
//   backward  w                        read again for the gradients of inputs
//             + (P + Q / E) / T d      the gradients of weights, written
//             + recomputed weights     all of w (remat block), or the projections whose results are
//                                      read and not kept
//   table     forward V D / T s, backward V D / T (s + d)
#pragma once

#include <string>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

struct Remat;
struct TrainingPlan;

/// Phases of the step that the loading of weights bounds: it takes longer than their FLOPs and
/// their communication.
struct WeightLoading {
    bool forward = false;   ///< layers of at least one kind
    bool backward = false;  ///< likewise
    bool unembedding = false;

    /// Returns the names of these phases: `forward`, `backward`, `unembedding`.
    [[nodiscard]] std::vector<std::string> parts() const;
};

/// HBM bytes of a pass's weights.
struct LoadedWeights {
    sim::Bytes forward;
    sim::Bytes backward;
};

/// Returns the bytes of a layer of that kind, for `tokens` (t) tokens of a tensor group at a time.
LoadedWeights weights_of_layer(const ModelSpec& model, const TrainingPlan& plan, LayerKind kind,
                               double tokens);
/// Returns the bytes of the unembedding.
LoadedWeights weights_of_table(const ModelSpec& model, const TrainingPlan& plan);

/// Returns the matmul parameters of a layer that recomputation uses. `experts` are those of the
/// routed experts that count.
double matmuls_again(const ModelSpec& model, const Remat& remat, LayerKind kind, double experts);

}  // namespace podsim::workloads
