// The reference text's time of a training step (`book`), at ideal rates whatever the profile: its
// closed forms for one step (How to Scale Your Model, section 5).
//
// Symbols: L, D, N, K, H, V as in ModelSpec; S sequence length; T tensor ways, C context ways, E
// expert ways, X = fsdp x context x expert weight shards; P = matmul parameters of a layer (the
// text's 2DF generalised: attention and MLP, no norms). With experts, P has those of one token in
// T_math and all in gather and scatter, where routed experts count P / (T E) over fsdp x context.
// t = tokens / (data fsdp context expert m), the tokens of one tensor group in one of m
// microbatches, without the padding of shards that do not fill; b, d bytes of a compute and a
// gradient element; W = 2 x the one-way rate of a link; n_g the number of physical axes that the
// group g spans, whole or in factors (every axis is taken to wrap); R = peak FLOPs. The term of a
// group with one member is zero.
//
// The term of a group that spans slices is the larger of its ICI term and of the bytes of all these
// groups of a slice over the DCN links of its hosts.
//
//   a        = 2 t N (H + Hv) / T x keys of a query     attention's dot products (keys: S, S / 2
//                                                       causal, about W with a window)
//   gather   = P / T b / (W n_X)                        weights of a layer. Backward: bf16_backward
//                                                       in bf16 and, with dynamic scales that are
//                                                       found before the gather, recomputed
//                                                       matrices once more
//   scatter  = P / T d / (W n_X) + 2 P / (T X) d / (W n_data)   its gradients (AllReduce twice)
//   rows     = t D b / (W n_T)                          one tensor AllGather, ReduceScatter
//              (X ways of tensor_transpose beside Y of tensor, T = X Y: t D / X over tensor)
//   columns  = t (q + o + (g + 1) F) / Y b / (W n_X)    over tensor_transpose: q queries, keys and
//              values, o attention's output, g 2 of a gated MLP (Ways::tensor_transpose)
//   kv       = t C K (H + Hv) / T b / (W n_C)           keys, values of the whole sequence
//   tokens   = t k D / T b A / (4 W) + t k D b / (W n_T)        one AllToAll of an expert layer,
//              with A ways along the longest axis, and on either side of the experts over tensor
//              (over S slices at least the bytes that leave a slice over its hosts' DCN:
//              (S - 1) / S of t k D / T b of each chip)
//
// Forward, a layer:
//   T_math   = 2 P t / T / R + a / R_bf16              (R of the plan's precision)
//   T_comms  = gather + 4 rows + kv + columns          (rows: in and out of attention and MLP)
// Backward, a layer:
//   T_math   = 2 x forward, + forward again (remat block) or + a / R (remat matmuls) or, with named
//              tensors (none: `full`), the recomputed matmuls and a / R
//   T_comms  = gather + scatter + 2 kv + 4 rows
//              + (remat block: the forward's 4 rows again; otherwise the third gather of each
//              block's input: 2 rows; 1 more for the sums of each output that is read and not
//              kept: out_proj, and mlp_out if it is normed)
//              (2 kv: gathered again, and its gradient reduced)
//              + columns + (remat block: columns again; otherwise o + F of them, and the
//              recomputed ones of q and g F)
// In a parallel block 2 rows replace 4, and 1 replaces 2. With experts 2 tokens are added forward
// and 2 backward. With remat 2 more are added, to the experts and back; the tensor term of the
// return counts only if mlp_out is not kept. Without remat the third gather of the experts' rows
// over tensor is added. The MLP's rows count only for shared experts.
// Unembedding:
//   forward  T_math = 2 V D t / T / R,  T_comms = V D / T b / (W n_X) + rows
//   backward T_math = 4 V D t / T / R,  T_comms = scatter of V D + rows     (V columns in both;
//            with chunks of logits, which are made again, 6 V D t / T / R)
//
// A layer of further tokens (multi-token prediction) counts as one more last layer, in which
// nothing runs again. The product of its 2 D x D projection precedes it, and an unembedding
// follows, whose table is not gathered again:
//   T_math = 4 D^2 t / T / R_bf16 and twice that backward,
//   T_comms = the gather of 2 D^2, backward with its scatter
//
// With ZeRO-2 the gradients' term over data counts once instead of twice. With ZeRO-1 and 2 the
// gather of the updated parameters over data is added at the end. In a pipeline it is that of the
// last stage: 1 / p of the layers, and the table.
//
//   layers      = L max(T_math, T_comms) forward + L max(T_math, T_comms) backward
//   unembedding = max(...) of the unembedding forward + max(...) backward
//   step        = m layers + m unembedding                without a pipeline
//               = (m layers + b) / p + m unembedding      p stages, the last sets the pace
// The bubble b is (p - 1) / v layers with v chunks. In the zero-bubble schedule it is
// (p - 1)(F + B - W): the layers less twice W, the FLOPs of the weights' gradients, and at least
// zero. The text has no form for pipelines; this is the papers' bubble applied to its layers.
// The data AllReduce, once a step, counts 1 / m in each microbatch's scatter. Sends between
// stages are left out.
//
// If the HBM is shared (MachineRates::hbm_shared), the matmuls of each T_math take at least as long
// as the loading of their weights, as in the text's section 7: max(2 B P / (chips FLOP/s),
// parameter bytes / (chips HBM bandwidth)), attention apart. weight_loading.h has the bytes of each
// pass. A phase is bound by the loading of weights if that takes longer than the matmuls' FLOPs,
// and T_math longer than T_comms; the layers are if one kind of them is.
//
// As in the text, embedding lookup, norms, optimizer, all other HBM, latency, the first gather and
// last scatter that nothing hides, and MXU padding are left out. Tensor collectives are taken to
// overlap with compute.
#pragma once

#include "sim/base/quantity.h"
#include "topology/mesh/mesh.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/bounds/weight_loading.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

struct BookEstimate {
    sim::Seconds time;
    WeightLoading loading{};
};

/// Returns the `book` estimate: the reference text's closed forms (section 5), forward and backward
/// separately, with 2DF generalised to the layer's matmul parameters P_layer and the tensor terms
/// once per block (attention, MLP).
///   forward   L max(T_math, T_fsdp + T_tensor),  backward likewise, plus the unembedding.
/// If the HBM is shared (MachineRates::hbm_shared), T_math is at least the time to load the weights
/// from it, as in the text's section 7. The head of this file has every term, and the omissions.
BookEstimate book_step(const ModelSpec& model, const TrainingPlan& plan,
                       const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
