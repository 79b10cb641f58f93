// The analytic estimates that stand beside every simulated step, at ideal rates whatever the
// profile.
#pragma once

#include <algorithm>
#include <string>

#include "collectives/catalogue/bounds.h"
#include "sim/base/quantity.h"
#include "topology/chips/chip.h"
#include "topology/chips/efficiency.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

struct ModelSpec;
struct TrainingPlan;

/// The machine as the formulas see it.
struct MachineRates {
    sim::FlopsPerSecond flops;  ///< peak of bf16 matmuls
    sim::BytesPerSecond hbm;
    sim::BytesPerSecond ici_one_way;  ///< per link and direction
    int mxu_dimension = 128;
    collectives::SliceLinks between_slices{};  ///< PCIe and DCN
    topology::Efficiency
        efficiency{};  ///< of matmuls and the vector unit; the rates above are as they are
    int chips_per_slice = 1;
    sim::FlopsPerSecond vpu = sim::FlopsPerSecond::infinity();  ///< elementwise operations
    sim::FlopsPerSecond int8{};
    sim::FlopsPerSecond fp8{};  ///< 0: none

    /// Peak of matmuls of that dtype.
    [[nodiscard]] sim::FlopsPerSecond peak(MatmulDtype dtype) const {
        return dtype == MatmulDtype::bf16 ? flops : dtype == MatmulDtype::int8 ? int8 : fp8;
    }
};

/// Time of one compute operation, in its parts. For an m x k by k x n product, the systolic array
/// of d x d holds a d x d tile of the k x n operand while the rows of the m x k operand stream
/// through it: k and n are rounded up to multiples of d, and fewer than d rows take as long as d.
/// The profile's efficiency divides the padded time: of a matmul by mxu x d / (d + mxu_ramp), where d is its smallest
/// dimension, of attention's dot products by `attention`. Ideally the operation takes together = max(mxu_reached, hbm, vpu).
/// Where its elementwise part (bytes and vector work) does not hide beneath the matmul it takes
/// apart = max(mxu_reached, hbm of the matmul) + elementwise; with a share `fusion` that hides, the mean of the two.
struct ComputeTime {
    sim::Seconds mxu;          ///< flops / peak of the dtype
    sim::Seconds mxu_padded;   ///< the same with padding: >= mxu
    sim::Seconds mxu_reached;  ///< the same at the efficiency of the profile: >= mxu_padded
    sim::Seconds hbm;          ///< bytes / bandwidth
    sim::Seconds vpu;          ///< elementwise operations / rate
    sim::Seconds elementwise;  ///< the larger of vpu and the elementwise bytes / bandwidth
    sim::Seconds matmul_hbm;   ///< the other bytes / bandwidth
    double fusion = 1;
    [[nodiscard]] sim::Seconds total() const {
        const sim::Seconds together = std::max({mxu_reached, hbm, vpu});
        const sim::Seconds apart = std::max(mxu_reached, matmul_hbm) + elementwise;
        return apart > together ? together + (apart - together) * (1 - fusion) : together;
    }
};
ComputeTime compute_time(const Compute& work, const MachineRates& rates);

/// Which resource a true lower bound comes from.
struct LowerBound {
    sim::Seconds time;
    std::string
        bound;  ///< `compute`, `hbm`, `vpu`, `dcn`, `pcie`, or the ICI axes of the tightest set: `ici x`
    sim::Seconds compute;       ///< sum of flops / peak
    sim::Seconds hbm;           ///< sum of HBM bytes / bandwidth
    sim::Seconds vpu;           ///< sum of elementwise operations / rate
    sim::Seconds links;         ///< the tightest set of ICI axes, or PCIe, or DCN
    unsigned link_classes = 0;  ///< which: bit a for axis a, collectives::kPcieClass, kDcnClass
};

/// The loads of an AllToAll of unequal members by their places in the group; nothing of other collectives.
collectives::Ends ends_of(const Collective& collective, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh);

/// `roofline_lower`: the largest of the compute sum, the HBM sum, the VPU sum, and over every set S of ICI axes
/// the least bytes that a chip must receive, must send, or on average receives, for the collectives
/// and handovers that use only axes of S, at the rate of its links on S (the weakest chip's for receive and send,
/// the mean for the mean), and the least bytes that a slice must receive, must send, or on average
/// receives, at the rate of its chips' PCIe links and of its hosts' DCN links; and what a chip exchanges with its
/// host, each way, at the rate of its PCIe link. What a collective between slices
/// moves within them is left out of the ICI sums. Of several programs (program.h) the one with most counts,
/// for the mean all of them. Never above a simulated time.
LowerBound roofline_lower(const StepPrograms& programs, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh, const MachineRates& rates);

/// `roofline_serial`: every operation at its ideal time (compute: max of flops / peak, hbm and vpu;
/// collective: its physical bound; handover: what it receives, at the rate of its routes; transfer to or from the host: at
/// PCIe's rate), one after the other; of several programs the longest. Not a bound.
sim::Seconds roofline_serial(const StepPrograms& programs, const topology::Lattice& slice,
                             const topology::DeviceMesh& mesh, const MachineRates& rates);

/// `book`: the reference text's closed forms (section 5), forward and backward separately, with 2DF
/// generalised to the layer's matmul parameters P_layer and the tensor terms once per block
/// (attention, MLP).
///   forward   L max(T_math, T_fsdp + T_tensor),  backward likewise, plus the unembedding.
/// The comment at the head of book_step.cpp states every term and what is left out.
sim::Seconds book_step(const ModelSpec& model, const TrainingPlan& plan,
                       const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
