// The costs of a custom call as the author of its kernel states them.
//
// Pallas writes them into backend_config, `"cost_estimate": {"flops": 5, "transcendentals": 0,
// "bytes_accessed": 15000000, "remote_bytes_transferred": 0}`, for one call on one device:
// operations, elements, bytes. XLA writes the numbers as text, "5", and prints the whole as JSON or
// as a quoted string with escapes; kernels for GPUs have `cost_estimate_json`. A number that is
// absent or negative is not stated, nor are bytes of 0.
// Sources: JAX @cec06d1 (8 August 2026), jax/_src/tpu_custom_call.py, CostEstimate; openxla/xla
// @183fa00 (22 August 2026), xla/service/gpu/model/gpu_hlo_cost_analysis.cc,
// ExtractCustomCallCostEstimate.
#pragma once

#include <optional>

#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

struct CostEstimate {
    double flops = 0;
    double transcendentals = 0;
    std::optional<double> bytes{};  ///< read and written
    /// Bytes that the kernel itself sends to other chips.
    double remote_bytes = 0;
};

/// Returns nothing for other instructions, and for calls that state neither FLOPs nor bytes.
std::optional<CostEstimate> cost_estimate_of(const Instruction& instruction);

}  // namespace podsim::workloads::hlo
