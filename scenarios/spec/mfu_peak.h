// The peak against which the MFU counts.
#pragma once

#include <algorithm>

#include "sim/base/quantity.h"
#include "topology/chips/chip.h"
#include "workloads/program/matmul_dtype.h"

namespace podsim::scenarios {

/// Of a chip whose matmuls are of that type: attention and the unembedding stay bf16, so that on a chip of slower int8 or fp8 matmuls theirs
/// is the peak.
inline sim::FlopsPerSecond peak_of_mfu(const topology::ChipSpec& chip,
                                       workloads::MatmulDtype dtype) {
    const sim::FlopsPerSecond narrow = dtype == workloads::MatmulDtype::int8 ? chip.int8_ops.value
                                       : dtype == workloads::MatmulDtype::fp8
                                           ? chip.fp8_flops.value
                                           : chip.bf16_flops.value;
    return std::max(narrow, chip.bf16_flops.value);
}

/// What an MFU is of one of JAX's devices: half a chip on v2, v3 and tpu7x.
inline sim::FlopsPerSecond device_flops(const topology::ChipSpec& chip,
                                        workloads::MatmulDtype dtype, double mfu) {
    return sim::FlopsPerSecond(mfu * peak_of_mfu(chip, dtype).value() / chip.devices.value);
}

}  // namespace podsim::scenarios
