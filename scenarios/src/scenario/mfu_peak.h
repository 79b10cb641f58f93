// The peak to which the MFU refers.
#pragma once

#include <algorithm>

#include "sim/base/quantity.h"
#include "topology/chips/chip.h"
#include "workloads/plan/matmul_dtype.h"

namespace podsim::scenarios {

/// Returns the peak of a chip whose matmuls are of that type. Attention and the unembedding stay
/// bf16, so bf16 is the peak of a chip whose int8 or fp8 matmuls are slower.
inline sim::FlopsPerSecond peak_of_mfu(const topology::ChipSpec& chip,
                                       workloads::MatmulDtype dtype) {
    const sim::FlopsPerSecond narrow = dtype == workloads::MatmulDtype::int8 ? chip.int8_ops.value
                                       : dtype == workloads::MatmulDtype::fp8
                                           ? chip.fp8_flops.value
                                           : chip.bf16_flops.value;
    return std::max(narrow, chip.bf16_flops.value);
}

/// Returns the FLOP/s of one of JAX's devices at an MFU. A device is half a chip on v2, v3 and
/// tpu7x.
inline sim::FlopsPerSecond device_flops(const topology::ChipSpec& chip,
                                        workloads::MatmulDtype dtype, double mfu) {
    return sim::FlopsPerSecond(mfu * peak_of_mfu(chip, dtype).value() / chip.devices.value);
}

}  // namespace podsim::scenarios
