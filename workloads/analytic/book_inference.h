// The reference text's closed forms of inference (How to Scale Your Model, section 7), at ideal rates.
//
// Symbols: n chips, each with HBM bandwidth beta and C FLOP/s of the matmuls' dtype; P parameters, p bytes of all of them; B new
// tokens of a step; kv bytes of the cache that its sequences read; r bytes of the parameters that a step reads: p, of E routed experts
// of which a token takes k the share 1 - (1 - k / E)^B that any token takes.
//   step        kv / (n beta) + max(2 B P / (n C), r / (n beta))       attention is bound by its bytes always
//   least step  (kv + r) / (n beta)                                   all bytes once
//   most rate   B / least step, in tokens a second
//   critical    C / beta x (bytes of a weight) / 2 x E / k: the batch above which matmuls take longer than loading their weights (bf16 weights and
//               FLOPs on v5e: 240); of experts times E / k
//   fit         (n capacity - p) / bytes of a sequence's cache: the largest batch
// P counts all active parameters (of experts the k of a token's), p all. Communication and latency are not in them.
#pragma once

#include "sim/base/quantity.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

struct Precision;
struct TrainingPlan;

/// Times are sums over the steps of `generate`.
struct BookInference {
    sim::Seconds step;
    sim::Seconds least;         ///< all bytes read once
    sim::Seconds cache;         ///< of them, the cache's
    sim::Seconds weights;       ///< and the parameters' that are read
    sim::Seconds flops;         ///< of the parameters
    double critical_batch = 0;  ///< tokens
    sim::Bytes parameters;      ///< p
    sim::Bytes cached;          ///< kv
    sim::Bytes
        of_sequence;  ///< the cache of the longest sequence, at the end of the step or as reserved
    sim::Bytes of_token;  ///< K (H + Hv) L e: what one more token adds while no window is full
};

/// `parameters`: P in place of the model's own count; 0: the model's.
BookInference book_inference(const ModelSpec& model, const TrainingPlan& plan, double chips,
                             const MachineRates& rates, double parameters = 0);
/// Bytes of a stored parameter in the mean of all.
double mean_stored_bytes(const ModelSpec& model, const Precision& precision);

}  // namespace podsim::workloads
