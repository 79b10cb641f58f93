// How often a matmul goes through the systolic array.
//
// The MXU multiplies bf16. An fp32 operand goes through it as 1 part of bf16 at `default` precision, 2 at `high`, 3 at `highest`; the
// products of parts that matter are 1, 3 and 6 passes (bf16_3x, bf16_6x). The larger of the two operands' precisions decides. An operand
// of bf16, or smaller, is one part whatever is asked, beside which an fp32 one takes as many passes as it has parts.
//   operand_precision={highest,highest}    default 1, high 3, highest 6
//   algorithm=dot_bf16_bf16_f32_x3         the number behind x; 1 without one
//   algorithm=dot_f32_f32_f32              6; dot_tf32_tf32_f32 3 and its x3 6, which TPUs do not have, by their digits
// An algorithm that is named stands in place of the precision. fp64, which a TPU emulates, counts as one pass.
// Sources: JAX @cec06d1 (8 August 2026), jax/_src/lax/lax.py, Precision ("3 bfloat16 passes", "6 bfloat16", float32 only); openxla/xla
// @183fa00 (22 August 2026), xla/xla_data.proto, PrecisionConfig (an x-fold algorithm's primitive operations), hlo_parser.cc, and, of unequal
// precisions, xla/backends/gpu/transforms/gemm_rewriter.cc (the largest). libtpu's own rule is not public.
#pragma once

#include <string>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

struct MatmulPasses {
    double passes = 1;
    std::string precision{};  ///< `highest`, `dot_bf16_bf16_f32_x3`; empty where it changes nothing
};

/// The passes of a matmul of such operands. Throws sim::InputError where the text asks for what the grammar does not have.
MatmulPasses passes_of(const Module& module, const Instruction& matmul, const Shape& left,
                       const Shape& right);

}  // namespace podsim::workloads::hlo
