// One decoder layer of a step of inference. Rows are complete on every tensor way, as serving engines keep them (vLLM,
// SGLang, JetStream: an AllReduce behind each block, not the ReduceScatter and AllGather of sequence parallelism).
//
// Per chip (brackets: only where there is more than one way):
//   qkv attention out [AllReduce]  gate_up down [AllReduce]          a parallel block adds up once for both
//   latent [AllGather latents] qkv attention ...                     latent attention
//   qkv [AllGather KV over context] attention ...                    context-parallel prefill
//   qkv [AllToAll of queries] attention [AllToAll of outputs] out    the cache split over the batch by `cache`
//   qkv [AllGather of queries] attention [AllReduce of maxima] [ReduceScatter of outputs and sums] out     over the sequence
//   router [AllToAll] [AllGather] experts [ReduceScatter] [AllToAll] combine [AllGather]             experts by expert ways
//   router experts combine [AllReduce]                               experts split over tensor alone, or whole
// With X ways of tensor_transpose rows have D / X columns, and what row_exchange.h says of projections holds (2-D
// weight-stationary); sums over tensor are then added up by an AllReduce of t D / X.
// Sources: How to Scale Your Model, section 7 (sharding the cache over batch and sequence); Pope et al., 2022, section 3.
#pragma once

#include "workloads/builder/forward_parts.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// The layer's rows, of those before it.
Tensor inference_layer(ForwardParts& parts, LayerKind kind, const Tensor& x);

/// The sums over tensor and cache of t x D / X partial rows; `tokens` of them.
Tensor add_up(ForwardParts& parts, const std::string& what, double tokens, const Tensor& sums);

}  // namespace podsim::workloads
