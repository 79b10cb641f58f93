// Closed forms of the reference text for inference (How to Scale Your Model,
// section 7), at ideal rates.
//
// Symbols: n chips, each with HBM bandwidth beta and C FLOP/s in the matmuls' dtype; P parameters,
// p bytes of all of them; B new tokens of a step; kv bytes of the cache that its sequences read; r
// bytes of the parameters that a step reads. r is p, but with E routed experts, of which a token
// takes k, only the fraction 1 - (1 - k / E)^B of them that any token takes.
//   step           kv / (n beta) + max(2 B P / (n C), r / (n beta)); attention is always bound by
//                  bytes
//   shortest step  (kv + r) / (n beta); all bytes move once
//   highest rate   B / shortest step, in tokens a second
//   critical       C / beta x (bytes of a weight) / 2 x E / k: the batch above which matmuls take
//                  longer than loading their weights (bf16 weights and FLOPs on v5e: 240); the
//                  factor E / k is that of experts
//   fit            (n capacity - p) / bytes of a sequence's cache: the largest batch
// P counts all active parameters (k experts for a token), p counts all. Communication and
// latency are left out.
#pragma once

#include "sim/base/quantity.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

struct Precision;
struct TrainingPlan;

/// Estimate of an inference step. Times are sums over the steps of `generate`.
struct BookInference {
    sim::Seconds step;
    sim::Seconds least;         ///< all bytes read once
    sim::Seconds cache;         ///< those of the cache
    sim::Seconds weights;       ///< those of the parameters that are read
    sim::Seconds flops;         ///< of the parameters
    double critical_batch = 0;  ///< tokens
    sim::Bytes parameters;      ///< p
    sim::Bytes cached;          ///< kv
    /// Cache of the longest sequence, at the end of the step or as reserved.
    sim::Bytes of_sequence;
    /// K (H + Hv) L e: the cache of one more token while no window is full.
    sim::Bytes of_token;
};

/// Returns the estimate. `parameters` replaces the model's own count P; 0 keeps it.
BookInference book_inference(const ModelSpec& model, const TrainingPlan& plan, double chips,
                             const MachineRates& rates, double parameters = 0);
/// Returns the mean bytes of a stored parameter.
double mean_stored_bytes(const ModelSpec& model, const Precision& precision);

}  // namespace podsim::workloads
