// Operations of the vector unit (VPU) for each element of an elementwise step.
//
// An operation is one lane's addition, multiplication, comparison or conversion; the chip's rate is
// ALUs x clock (topology/chips/chip.h). A transcendental (exp, reciprocal, square root, tanh) goes
// to the one special unit of a lane, next to its four ALUs, and counts as 4 (an assumption: the
// unit accepts one per cycle). Arithmetic is in 32 bits whatever the dtype of the tensor; loads,
// stores and casts of results are free.
//
//   norm, RMS           4   square, sum, times 1/rms, times scale; LayerNorm 7: sum, less mean,
//                           bias
//     its backward      9   dy scale, x/rms, product, sum, times, difference, times 1/rms; the
//                           scale's gradient 2; LayerNorm 12: another sum, difference, the bias's
//                           gradient
//   residual sum        1   forward and backward
//   rotary embedding    3   two products and a sum, of each rotated column of queries and keys;
//                           backward alike
//   softmax             7   per score: maximum, difference, exp, sum; of the unmasked scores only
//     its backward      7   difference and exp once more, dP - D, product; D itself 2 for each
//                           column of the output
//   activation         10   sigmoid (exp, sum, reciprocal), product, for SiLU and GELU; gated 11
//     its backward     14   sigmoid once more, its derivative 4, product; gated 17: the other
//                           branch's gradient too
//   router              7   softmax of a logit, + k comparisons (top k); backward 4
//     one-hot masks     4   per element in the dense path: comparison, selection, product,
//                           conversion
//     sort              6   per comparison of a bitonic network, n log2 n (log2 n + 1) / 4 of them:
//                           comparison, minimum and maximum of the keys, selections of two indices
//                           (5), address (an assumption: XLA's sort is closed)
//     combine           2   product and sum of a copied element; backward 3: product, and the
//                           weight's gradient 2
//   loss                9   softmax of a logit, scaled, less the label; maximum and sum across
//                           tensor are not counted
//   embedding           1   per element of the gradient, added to the table; learned positions: 1
//                           forward too
//   Adam               22   moments 3 + 4, bias corrections 2, square root 4, epsilon 1,
//                           division 4, decay 2, update 2
//   Lion               11   two interpolations 3 + 3, sign 1, decay 2, update 2
//   Adafactor          19   square, two sums; mean square 2, root 4, quotient; its square and sum
//                           2, scale; the parameter's square and sum 2, scale; decay 2, update 2
//   SGD                 2
//   gradients' norm     2   square and sum
//   quantisation        4   per element of an operand: magnitude, maximum, scale, rounding; a
//                           result is scaled back for 1
// Biases and masks (fused), the running maximum of flash attention's blocks, and norms of latent
// queries' gradients apart from the above are not counted.
#pragma once

namespace podsim::workloads::vector_unit {

inline constexpr double kTranscendental = 4;
inline constexpr double kNorm = 4;
inline constexpr double kNormBackward = 9;
inline constexpr double kLayerNorm = kNorm + 3;
inline constexpr double kLayerNormBackward = kNormBackward + 3;
inline constexpr double kResidual = 1;
inline constexpr double kRotary = 3;
inline constexpr double kSoftmax = 3 + kTranscendental;
inline constexpr double kSoftmaxBackward = 3 + kTranscendental;
inline constexpr double kOutputDot = 2;
inline constexpr double kSigmoid = 1 + 2 * kTranscendental;
inline constexpr double kActivation = kSigmoid + 1;
inline constexpr double kActivationBackward = kSigmoid + 4 + 1;
inline constexpr double kGate = 1;
inline constexpr double kGateBackward = 3;
inline constexpr double kRouterBackward = 4;
inline constexpr double kMask = 4;
inline constexpr double kSort = 6;
inline constexpr double kCombine = 2;
inline constexpr double kCombineBackward = 3;
inline constexpr double kLoss = kSoftmax + 2;
inline constexpr double kEmbedding = 1;
inline constexpr double kAdam = 14 + 2 * kTranscendental;
inline constexpr double kLion = 11;
inline constexpr double kAdafactor = 15 + kTranscendental;
inline constexpr double kSgd = 2;
inline constexpr double kSquareSum = 2;
inline constexpr double kQuantise = 4;
inline constexpr double kRescale = 1;

}  // namespace podsim::workloads::vector_unit
