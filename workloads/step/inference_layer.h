// One decoder layer of an inference step. Rows are complete on every tensor rank, as serving
// engines keep them (vLLM, SGLang, JetStream: an AllReduce behind each block, not the ReduceScatter
// and AllGather of sequence parallelism).
//
// Per chip (brackets: only if there is more than one way):
//   dense (a parallel block adds up once for both)
//       qkv attention out [AllReduce]  gate_up down [AllReduce]
//   latent attention
//       latent [AllGather latents] qkv attention ...
//   context-parallel prefill
//       qkv [AllGather KV over context] attention ...
//   the cache split over the batch by `cache`
//       qkv [AllToAll of queries] attention [AllToAll of outputs] out
//   the cache split over the sequence by `cache`
//       qkv [AllGather of queries] attention [AllReduce of maxima]
//       [ReduceScatter of outputs and sums] out
//   experts by expert ways
//       router [AllToAll] [AllGather] experts [ReduceScatter] [AllToAll] combine [AllGather]
//   experts split over tensor alone, or whole
//       router experts combine [AllReduce]
// With X ways of tensor_transpose rows have D / X columns, and row_exchange.h holds for projections
// (2-D weight-stationary). An AllReduce of t D / X then adds up the sums over tensor.
// Sources: How to Scale Your Model, section 7 (sharding the cache over batch and sequence); Pope et
// al., 2022, section 3.
#pragma once

#include "workloads/models/model.h"
#include "workloads/step/forward_parts.h"

namespace podsim::workloads {

/// Returns the layer's rows, from the rows `x` before it.
Tensor inference_layer(ForwardParts& parts, LayerKind kind, const Tensor& x);

/// Returns the sums over tensor and cache of `tokens` x D / X partial rows.
Tensor add_up(ForwardParts& parts, const std::string& what, double tokens, const Tensor& sums);

}  // namespace podsim::workloads
