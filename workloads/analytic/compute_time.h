// How long a chip computes, alone: MXU with padding and as reached, HBM, VPU.
#pragma once

#include <algorithm>

#include "sim/base/quantity.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Time of one compute operation, in its parts. For an m x k by k x n product, the systolic array
/// of d x d holds a d x d tile of the k x n operand while the rows of the m x k operand stream
/// through it: k and n are rounded up to multiples of d, and fewer than d rows take as long as d. What a kernel
/// executes beyond the operation's FLOPs (Compute::tiled) is padding as well.
/// The profile's efficiency divides the padded time: of a matmul by mxu x d / (d + mxu_ramp), where d is its smallest
/// dimension, and by mxu_8bit in int8 and fp8 where these are faster than bf16, of attention's dot products by `attention` or `attention_backward`. Ideally the operation takes together = max(mxu_reached, hbm, vpu).
/// Where its elementwise part (bytes and vector work) does not hide beneath the matmul it takes
/// apart = max(mxu_reached, hbm of the matmul) + elementwise; with a share `fusion` that hides, the mean of the two. Of a flash
/// kernel `attention` is measured with its softmax, which is no fusion of XLA's: all of it hides; beneath another kernel of its own
/// (Compute::kernel) nothing does, but ideally. A kernel of which the steps are known takes for each of them the longest of tile (by the
/// share mxu_grouped, of attention its own), bytes and what the vector unit does beside the tile, and grid_step_s unless the steps are a
/// loop inside the kernel; ideally blocks come as if all were fetched ahead, and it takes as long as any
/// other operation. Rows that indices name move at the share `gather` of the bandwidth. Bytes of
/// kernels of their own (Compute::apart) move before or behind all that, ideally beside it. Waiting for the host, and the kernel's start,
/// come before.
struct ComputeTime {
    sim::Seconds mxu;          ///< flops x passes / peak of the dtype
    sim::Seconds mxu_padded;   ///< the same with padding: >= mxu
    sim::Seconds mxu_reached;  ///< the same at the efficiency of the profile: >= mxu_padded
    sim::Seconds hbm;          ///< bytes / bandwidth
    sim::Seconds vpu;          ///< elementwise operations / rate
    sim::Seconds
        elementwise;  ///< the larger of vpu and the fused elementwise bytes / bandwidth, with waits
    sim::Seconds waits;       ///< that gathers of rows take beyond their bytes: none at ideal rates
    sim::Seconds matmul_hbm;  ///< the other bytes / bandwidth
    sim::Seconds stepwise;    ///< of the kernel's steps one after another: none at ideal rates
    sim::Seconds
        beside;          ///< of it, what the vector unit does beside the tiles: none at ideal rates
    sim::Seconds apart;  ///< bytes of kernels of their own / bandwidth: none at ideal rates
    double fusion = 1;
    sim::Seconds
        host;  ///< that the chip waits for its host, beside the operation's work: none at ideal rates
    sim::Seconds
        start;  ///< of the kernel and of its sequences (Efficiency::kernel_s, sequence_s), where there is work: none at ideal rates
    [[nodiscard]] sim::Seconds total() const {
        const sim::Seconds matmuls = std::max(mxu_reached, stepwise);
        const sim::Seconds together = std::max({matmuls, hbm - apart + waits, vpu});
        const sim::Seconds in_turn = std::max(matmuls, matmul_hbm) + elementwise;
        return host + start + apart +
               (in_turn > together ? together + (in_turn - together) * (1 - fusion) : together);
    }
};
ComputeTime compute_time(const Compute& work, const MachineRates& rates);

}  // namespace podsim::workloads
