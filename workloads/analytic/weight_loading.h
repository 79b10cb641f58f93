// What a chip reads and writes of HBM for the weights of a pass, for estimates in which loading them counts (book_step.h).
//
// Symbols as in book_step.h; P = matmul parameters of a layer without its routed experts, Q those of all its routed
// experts, touched the part of Q that gets rows: min(1, E t k / experts), a row for each at the most; s bytes of an element as
// it is read, gathered or, where nothing is gathered, stored. Bytes of a chip:
//   forward   w = P / T s + touched Q / (T E) s
//   backward  w                        read again for the gradients of inputs
//             + (P + Q / E) / T d      the gradients of weights, written
//             + of w what runs again   all (remat block), or the projections whose results are read and not kept
//   table     forward V D / T s, backward V D / T (s + d)
#pragma once

#include <string>
#include <vector>

#include "sim/base/quantity.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

struct Remat;
struct TrainingPlan;

/// Which parts of the step the loading of weights bounds: it takes longer than their FLOPs and their communication.
struct WeightLoading {
    bool forward = false;   ///< layers, of one kind at least
    bool backward = false;  ///< likewise
    bool unembedding = false;

    /// `forward`, `backward`, `unembedding`: those of them.
    [[nodiscard]] std::vector<std::string> parts() const;
};

/// By pass.
struct LoadedWeights {
    sim::Bytes forward;
    sim::Bytes backward;
};

/// Of a layer of that kind, of t tokens of a tensor group at a time.
LoadedWeights weights_of_layer(const ModelSpec& model, const TrainingPlan& plan, LayerKind kind,
                               double tokens);
/// Of the unembedding.
LoadedWeights weights_of_table(const ModelSpec& model, const TrainingPlan& plan);

/// Matmul parameters of a layer that recomputation uses, where `experts` are those of the routed experts that count.
double matmuls_again(const ModelSpec& model, const Remat& remat, LayerKind kind, double experts);

}  // namespace podsim::workloads
