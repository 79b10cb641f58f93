// The number of passes of a matmul through the systolic array.
//
// The MXU multiplies bf16. An fp32 operand is split into 1 bf16 value at `default` precision, 2 at
// `high` and 3 at `highest`. The products that matter are then 1, 3 and 6 passes (bf16_3x,
// bf16_6x). The larger of the two operands' precisions decides. An operand of bf16 or smaller is
// never split; an fp32 operand beside it takes as many passes as it has bf16 values.
//   operand_precision={highest,highest}    default 1, high 3, highest 6
//   algorithm=dot_bf16_bf16_f32_x3         the number behind x; 1 without one
//   algorithm=dot_f32_f32_f32              6; dot_tf32_tf32_f32 3 and its x3 6, by their digits
//                                          (TPUs do not have them)
// A named algorithm overrides the precision. fp64, which a TPU emulates, counts as one pass.
// Sources: JAX @cec06d1 (8 August 2026), jax/_src/lax/lax.py, Precision ("3 bfloat16 passes", "6
// bfloat16", float32 only); openxla/xla @183fa00 (22 August 2026), xla/xla_data.proto,
// PrecisionConfig (an x-fold algorithm's primitive operations), hlo_parser.cc, and, for unequal
// precisions, xla/backends/gpu/transforms/gemm_rewriter.cc (the largest). libtpu's own rule is not
// public.
#pragma once

#include <string>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

struct MatmulPasses {
    double passes = 1;
    /// `highest`, `dot_bf16_bf16_f32_x3`; empty if the matmul takes one pass.
    std::string precision{};
};

/// Returns the passes of a matmul of these operands. Throws sim::InputError if the text asks for a
/// precision or algorithm that the grammar does not have.
MatmulPasses passes_of(const Module& module, const Instruction& matmul, const Shape& left,
                       const Shape& right);

}  // namespace podsim::workloads::hlo
