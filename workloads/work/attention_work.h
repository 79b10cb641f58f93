// What the operations of self-attention cost one chip: projections, dot products, and their gradients. Symbols and the
// FLOPs as in work.h.
//
// Attention is flash-style, no scores: queries and outputs once, and every block of queries that fits VMEM reads the
// keys and values that it sees. One block holds query rows of all heads that share keys and values. With n blocks of a
// sequence of which a chip has 1/C, keys and values are read n times in full attention, (n + 1/C) / 2 times in
// causal attention (a block reads up to its own end; zig-zag placement has two pieces of n / 2 blocks), and in local
// attention each block reads its window and itself. The backward pass reads as often, and adds to the gradients of keys
// and values in HBM as often: 3 n - 1 times their size in all. Of two backward kernels (BackwardKernels::split)
// the one of queries reads keys and values n times, that of keys and values reads them once and, block by block, queries and
// gradients n times; a block of keys sees the queries of all heads that share it, so these are as many bytes: 2 n + 2.
// Plain placement of causal shards: rank r of C has the r-th contiguous block of S / C queries and sees S / C (r + 1/2) keys
// for each on average, so (2 r + 1) / (2 C^2) of the S^2 pairs; with b blocks of queries that fit VMEM in its own, it
// reads (b r + (b + 1) / 2) / C times the keys and values of a sequence. Their gradients are added to as often but for
// the first time, in r + 1 of C blocks; the others it zeroes (gathered) or passes on untouched (ring attention).
// With zig-zag placement of causal context shards every chip does the same work exactly, but for a window: its first
// queries see fewer keys, and the chips without them set the pace.
// With AttentionBlocks the blocks are the kernels' own (tiles/score_blocks.h): every head of queries fetches the keys and values of the
// blocks that it computes, computed scores / q of them, the kernel of keys' gradients queries and gradients, scores / kv, and
// keys and values once; one fused kernel writes the gradients of all queries for each block of keys, which are added up. FLOPs stay
// those of the mask; what blocks compute beyond is Compute::tiled, and the exponentials are of all computed scores.
// Dot products without a flash kernel (SelfAttention::scores) make all N t S scores of both halves of the mask, A bytes, in HBM. Exponentials are
// an array of their own, since XLA fuses none twice that two others read (IsExpensive: the sum and the product with V). Forward 5 A: scores
// written, read for the maxima, read and exponentials written (their sum is made beside), read by the product. Backward 7 A: exponentials read by dV; dP
// written; exponentials and dP read and dS written; dS read by dQ and by dK. The maxima's own gradient, which comes to nothing, is left out. Scores
// made again beside a kept output: 4 A. In the forward pass one array is alive (exponentials take the place of scores), in the
// backward pass two. Source: openxla/xla, xla/service/instruction_fusion.cc; MaxText @e591f30, layers/attention_op.py
// (apply_attention_dot, compute_local_attention), whose scores are float32 with float32_logits or float32_qk_product.
// Parts of attention to a window (window_ring.h): a part reads queries and outputs of the pieces of queries that it works
// on, and of the keys and values what its blocks of queries see. Gradients of a piece of keys are written whole, zeroes where
// no query sees it.
#pragma once

#include <span>

#include "workloads/program/step_program.h"
#include "workloads/shards/shard.h"
#include "workloads/work/attention_seen.h"

namespace podsim::workloads {

/// Down projections of latent attention.
Compute latent_forward(const Shard& shard);
Compute latent_input_gradient(const Shard& shard);
Compute latent_weight_gradient(const Shard& shard);
/// From the normed rows, or the up projections from the latents.
Compute qkv_forward(const Shard& shard);
/// Of latent attention: complete keys and values, without the shared columns, of so many latent vectors.
Compute complete_keys(const Shard& shard, double tokens);
Compute qkv_input_gradient(const Shard& shard);
Compute qkv_weight_gradient(const Shard& shard);
Compute attention_forward(const Shard& shard, bool local);
Compute attention_backward(const Shard& shard, bool local);
/// The same, of what seen_by_chip says.
Compute attention_forward(const Shard& shard, const Seen& seen);
Compute attention_backward(const Shard& shard, const Seen& seen);
/// With plain placement: the part of it with the keys of one block, the chip's own or an earlier one.
Compute attention_forward_to(const Shard& shard, int block);
Compute attention_backward_to(const Shard& shard, int block);
/// Of causal attention to a window: the part of it between those pieces of queries and keys. `first`: of the rank's
/// parts; later ones read what is there of outputs (backward: of queries' gradients) again.
Compute attention_forward_part(const Shard& shard, std::span<const PiecePair> pairs, bool first);
Compute attention_backward_part(const Shard& shard, std::span<const PiecePair> pairs, bool first);
/// Bytes of the scores of a layer, where they go through HBM.
double score_bytes(const Shard& shard, bool local);
Compute out_forward(const Shard& shard);
Compute out_input_gradient(const Shard& shard);
Compute out_weight_gradient(const Shard& shard);

}  // namespace podsim::workloads
