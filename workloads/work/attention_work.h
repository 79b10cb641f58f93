// Cost of the operations of self-attention on one chip: projections, dot products, and their
// gradients. Symbols and FLOPs are those of work.h.
//
// Attention is flash-style and stores no scores. Queries and outputs move once, and every block
// of queries that fits VMEM reads the keys and values that it sees. One block holds query rows
// of all heads that share keys and values. If a chip has 1/C of a sequence in n blocks, keys
// and values are read
//   n times              in full attention
//   (n + 1/C) / 2 times  in causal attention: a block reads up to its own end (with zig-zag
//                        placement the chip has two segments of n / 2 blocks)
// In local attention each block reads its window and itself. The backward pass reads as often,
// and adds to the gradients of keys and values in HBM as often: 3 n - 1 times their size in all.
// With two backward kernels (BackwardKernels::split) the kernel of queries reads keys and values
// n times. The kernel of keys and values reads them once and, block by block, queries and
// gradients n times. A block of keys sees the queries of all heads that share it, so these are as
// many bytes: 2 n + 2.
//
// Plain placement of causal shards: rank r of C has the r-th contiguous block of S / C queries.
// Each query sees S / C (r + 1/2) keys on average, which is (2 r + 1) / (2 C^2) of the S^2 pairs.
// With b blocks of queries that fit VMEM in its own, the rank reads the keys and values of a
// sequence (b r + (b + 1) / 2) / C times. It adds to their gradients as often, except for the
// first time, in r + 1 of C blocks. It zeroes the other blocks (gathered) or passes them on
// untouched (ring attention).
//
// Zig-zag placement of causal context shards: every chip does exactly the same work, except with a
// window. The first queries then see fewer keys, and the chips without them set the pace.
//
// With AttentionBlocks the blocks are those of the kernels (attention_seen.h). Every head of
// queries fetches the keys and values of the blocks that it computes, computed scores / q of them.
// The kernel of keys' gradients fetches queries and gradients, scores / kv, and keys and values
// once. A fused kernel writes the gradients of all queries for each block of keys, and these are
// added up. FLOPs stay those of the mask. Compute::tiled covers the additional work of blocks, and
// the exponentials count all computed scores.
//
// Dot products without a flash kernel (SelfAttention::scores) make all N t S scores of both halves
// of the mask in HBM, A bytes. The exponentials are an array of their own, because XLA does not
// fuse an expensive operation into two readers (IsExpensive; here the sum and the product with V).
//   forward        5 A   scores written, read for the maxima, read and exponentials written (their
//                        sum is made beside), read by the product
//   backward       7 A   exponentials read by dV; dP written; exponentials and dP read and dS
//                        written; dS read by dQ and by dK
//   scores again   4 A   if the output is kept
// The gradient of the maxima is zero and left out. In the forward pass one array is alive (the
// exponentials replace the scores), in the backward pass two. Source: openxla/xla,
// xla/service/instruction_fusion.cc; MaxText @e591f30, layers/attention_op.py (apply_attention_dot,
// compute_local_attention), whose scores are float32 with float32_logits or float32_qk_product.
//
// Attention to a window takes several operations (window_ring.h). Each reads the queries and
// outputs of its segments, and the keys and values that its blocks of queries see. The gradients of
// a segment of keys are written whole, with zeros where no query sees them.
#pragma once

#include <span>

#include "workloads/program/step_program.h"
#include "workloads/work/attention_seen.h"
#include "workloads/work/shard.h"

namespace podsim::workloads {

/// Returns the down projections of latent attention.
Compute latent_forward(const Shard& shard);
Compute latent_input_gradient(const Shard& shard);
Compute latent_weight_gradient(const Shard& shard);
/// Returns the projections of the normed rows or, with latent attention, the up
/// projections of the latents.
Compute qkv_forward(const Shard& shard);
/// Latent attention: returns the projection that makes complete keys and values, without the shared
/// columns, of `tokens` latent vectors.
Compute complete_keys(const Shard& shard, double tokens);
Compute qkv_input_gradient(const Shard& shard);
Compute qkv_weight_gradient(const Shard& shard);
Compute attention_forward(const Shard& shard, bool local);
Compute attention_backward(const Shard& shard, bool local);
/// Returns the same for counts that seen_by_chip has returned.
Compute attention_forward(const Shard& shard, const Seen& seen);
Compute attention_backward(const Shard& shard, const Seen& seen);
/// With plain placement: returns the attention to the keys of one block, the chip's own
/// or an earlier one.
Compute attention_forward_to(const Shard& shard, int block);
Compute attention_backward_to(const Shard& shard, int block);
/// Causal attention to a window: returns the attention between these segments of queries and keys.
/// `first`: the first such operation of the rank; later ones read partial outputs (backward:
/// partial gradients of queries) again.
Compute attention_forward_part(const Shard& shard, std::span<const PiecePair> pairs, bool first);
Compute attention_backward_part(const Shard& shard, std::span<const PiecePair> pairs, bool first);
/// Returns the bytes of a layer's scores, if they go through HBM.
double score_bytes(const Shard& shard, bool local);
Compute out_forward(const Shard& shard);
Compute out_input_gradient(const Shard& shard);
Compute out_weight_gradient(const Shard& shard);

}  // namespace podsim::workloads
