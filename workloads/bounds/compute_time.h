// Compute time of a chip alone: MXU with padding and as reached, HBM, VPU.
#pragma once

#include <algorithm>

#include "sim/base/quantity.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Time of one compute operation, by resource.
///
/// MXU: for an m x k by k x n product, the systolic array of d x d holds a d x d tile of the k x n
/// operand while the rows of the m x k operand stream through it. k and n are rounded up to
/// multiples of d, and fewer than d rows take as long as d. Work that a kernel executes beyond the
/// operation's FLOPs (Compute::tiled) is padding as well. The profile's efficiency divides the
/// padded time. For a matmul it is mxu x s / (s + mxu_ramp), where s is the smallest dimension,
/// times mxu_8bit in int8 and fp8 if these are faster than bf16. For attention's dot products it is
/// `attention` or `attention_backward`.
///
/// Overlap: ideally the operation takes together = max(mxu_reached, hbm, vpu). If its elementwise
/// work (bytes and vector operations) does not hide beneath the matmul, it takes apart =
/// max(mxu_reached, hbm of the matmul) + elementwise. With a fraction `fusion` that hides, it
/// takes the mean of the two. The `attention` of a flash kernel is measured with its softmax,
/// which XLA does not fuse: all of it hides. Beneath another separate kernel (Compute::kernel)
/// nothing hides, except ideally.
///
/// Steps: a kernel with known steps takes for each of them the longest of its tile (at the fraction
/// mxu_grouped, or that of attention), its bytes, and the work of the vector unit beside the tile.
/// To that it adds grid_step_s, unless the steps are a loop inside the kernel. Ideally blocks
/// arrive as if all were fetched ahead, and the kernel takes as long as any other operation.
///
/// Rows that indices name move at the fraction `gather` of the bandwidth. Bytes of separate kernels
/// (Compute::apart) move before or behind all that, ideally beside it. The wait for the host, and
/// the kernel's start, come first.
struct ComputeTime {
    sim::Seconds mxu;          ///< flops x passes / peak of the dtype
    sim::Seconds mxu_padded;   ///< the same with padding: >= mxu
    sim::Seconds mxu_reached;  ///< the same at the efficiency of the profile: >= mxu_padded
    sim::Seconds hbm;          ///< bytes / bandwidth
    sim::Seconds vpu;          ///< elementwise operations / rate
    /// The larger of vpu and the fused elementwise bytes / bandwidth, with waits.
    sim::Seconds elementwise;
    /// Time of gathers of rows beyond their bytes; none at ideal rates.
    sim::Seconds waits;
    sim::Seconds matmul_hbm;  ///< the other bytes / bandwidth
    /// Time of the kernel's steps one after another; none at ideal rates.
    sim::Seconds stepwise;
    /// The vector unit's work beside the tiles, within `stepwise`; none at ideal rates.
    sim::Seconds beside;
    /// Bytes of separate kernels / bandwidth; none at ideal rates.
    sim::Seconds apart;
    double fusion = 1;
    /// Wait of the chip for its host, in addition to the operation's work; none at ideal rates.
    sim::Seconds host;
    /// Start of the kernel and of its sequences (Efficiency::kernel_s, sequence_s), if there is
    /// work; none at ideal rates.
    sim::Seconds start;
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
