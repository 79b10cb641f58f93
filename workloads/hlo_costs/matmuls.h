// `dot`, `ragged-dot` and `convolution` as matmuls. XLA for TPUs writes every matmul as a convolution.
//
//   dot            2 b m k n: b of the batch dimensions, m and n of what is left of the operands, k contracted
//                  `scaled-dot` likewise; the scales of its blocks are not counted
//   ragged-dot     2 b m k n too, whichever dimension its g groups divide, which are taken as equal:
//                    m   every row meets the matrix of its group: g matmuls of m/g rows; of the right operand all g matrices are read
//                    k   each group has a part of the contraction and a result of its own: g matmuls of k/g
//                    b   each batch belongs to a group, as in a dot
//   convolution    2 N O I / groups x the product over spatial dimensions of V, where V counts the pairs of an output
//                  position and a window position that meets an input, not padding or a gap of dilation
// A batch dimension of a matmul is a spatial one whose window is as long as the output and padded so that V is that length; one that is
// contracted has an output of 1 and V the window's length.
// As a matmul a convolution has B x outputs rows, and an inner dimension of the features that meet one of them.
// Sources: openxla/xla, xla/service/hlo_cost_analysis.cc (HandleConvolutionWithWindow, HandleRaggedDot); JAX, lax.ragged_dot_general (the three modes).
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
    bool depthwise = false;  ///< each feature by itself: work of the vector unit, not of the MXU
    double multiplications = 0;  ///< m k n of all, exactly
    double passes = 1;           ///< through the systolic array (matmul_passes.h)
    /// Element types of the operands, and the precision where it takes more passes: `bf16`, `f32 highest`, `s8 x bf16`.
    std::string types{};
    bool narrow =
        false;  ///< an operand's elements are floats of 6 or 4 bits, of which no MXU is known
    [[nodiscard]] double flops() const { return 2 * multiplications; }
};

bool is_matmul(const Instruction& instruction);
/// Of an instruction that is one. Throws sim::InputError where its attributes do not fit its operands.
Matmul matmul_of(const Module& module, const Computation& computation,
                 const Instruction& instruction, Budget& budget);

}  // namespace podsim::workloads::hlo
