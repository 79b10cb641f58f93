// `dot`, `ragged-dot` and `convolution` as matmuls. XLA for TPUs writes every matmul as a
// convolution.
//
//   dot            2 b m k n FLOPs: b batches, m and n remaining dimensions, k contracted;
//                  `scaled-dot` likewise, without the scales of its blocks
//   ragged-dot     2 b m k n for any dimension that its g groups, taken as equal, divide:
//                    m   every row meets its group's matrix: g matmuls of m/g rows; all g
//                        matrices of the right operand are read
//                    k   each group has a slice of the contraction and its own result: g
//                        matmuls of k/g
//                    b   each batch belongs to a group, as in a dot
//   convolution    2 N O I / groups x the product of V over spatial dimensions; V counts the pairs
//                  of output and window position that meet an input, not padding or a gap of
//                  dilation
// A spatial dimension is a matmul's batch dimension if its window is as long as the output and
// padded so that V is that length. It is contracted if its output is 1 and V is the window's
// length. As a matmul a convolution has B x outputs rows; its inner dimension counts the features
// that meet one of them.
// Sources: openxla/xla, xla/service/hlo_cost_analysis.cc (HandleConvolutionWithWindow,
// HandleRaggedDot); JAX, lax.ragged_dot_general (the three modes).
#pragma once

#include <string>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo/module.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads::hlo {

struct Matmul {
    MatmulShape shape;
    MatmulDtype dtype = MatmulDtype::bf16;
    /// True if each feature is convolved by itself: work of the vector unit, not of the MXU.
    bool depthwise = false;
    double multiplications = 0;  ///< exact sum of m k n
    double passes = 1;           ///< through the systolic array (matmul_passes.h)
    /// Element types of the operands, and the precision if it takes more than one pass: `bf16`,
    /// `f32 highest`, `s8 x bf16`.
    std::string types{};
    /// True if an operand has floats of 6 or 4 bits, for which no MXU is known.
    bool narrow = false;
    [[nodiscard]] double flops() const { return 2 * multiplications; }
};

bool is_matmul(const Instruction& instruction);
/// Reads a matmul instruction. Throws sim::InputError if its attributes do not fit its operands.
Matmul matmul_of(const Module& module, const Computation& computation,
                 const Instruction& instruction, Budget& budget);

}  // namespace podsim::workloads::hlo
