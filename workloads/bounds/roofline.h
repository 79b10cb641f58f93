// Rooflines of a simulated step, at ideal rates whatever the profile: a true lower bound, and the
// time of the same operations one after the other.
#pragma once

#include <string>

#include "collectives/vocabulary/operation.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// A true lower bound, and the resource that sets it.
struct LowerBound {
    sim::Seconds time;
    /// `compute`, `hbm`, `vpu`, `dcn`, `pcie`, or the ICI axes of the tightest set: `ici x`.
    std::string bound;
    sim::Seconds compute;      ///< sum of flops / peak
    sim::Seconds hbm;          ///< sum of HBM bytes / bandwidth
    sim::Seconds hbm_kernels;  ///< of the kernels alone
    sim::Seconds vpu;          ///< sum of elementwise operations / rate
    sim::Seconds links;        ///< the tightest set of ICI axes, or PCIe, or DCN
    /// Links that set it: bit a for axis a, collectives::kPcieClass, kDcnClass.
    unsigned link_classes = 0;
};

/// Returns `roofline_lower`, the largest of the compute sum, the HBM sum, the VPU sum, and over
/// every set S of ICI axes
/// - the fewest bytes that a chip must receive, or must send, for the collectives and handovers
///   that use only axes of S, at the rate of its links on S (the weakest chip's);
/// - the bytes that links must carry, the mean over chips, at the mean rate, for the weights of the
///   axes that make this longest (link_load.h). The traffic between given chips (AllToAll, permute,
///   handover) uses every link of the shortest route, other collectives the links of trees that
///   join their members. On a twisted torus operations on axes of S count the bytes that chips
///   receive, and all axes together the routes;
/// - on an axis that does not wrap the bytes of AllToAlls and permutes over the busiest link, the
///   mean over its lines (ici_traffic.h);
/// and the fewest bytes that a slice must receive, must send, or on average receives, at the rate
/// of its chips' PCIe links and of its hosts' DCN links; and the bytes that a chip exchanges with
/// its host in each direction, at the rate of its PCIe link. Moves within slices for collectives
/// between slices are left out of the ICI sums. With several programs (StepPrograms) the one with
/// most counts; the mean is over all of them. The bound never exceeds a simulated time.
///
/// The HBM sum is that of the kernels' bytes. If the HBM is shared (MachineRates::hbm_shared)
/// messages count, too, by the bytes that any algorithm must read and write for them
/// (MemoryTraffic), never by those of the simulated algorithms. The sum is then the larger of
/// - for every program, its kernels' bytes and those that each of its chips must read
///   and write itself;
/// - for every stage, the mean over its members of kernels' bytes and of the mean that
///   messages must move: of the chips of a stage, between which its collectives are, one has
///   no less than the mean.
LowerBound roofline_lower(const StepPrograms& programs, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh, const MachineRates& rates);

/// Returns `roofline_serial`: every operation at its ideal time, one after the other; for several
/// programs the longest. A compute operation takes the max of flops / peak, hbm and vpu, a
/// collective its physical bound, a handover the received bytes at the rate of its routes, and a
/// transfer to or from the host PCIe's rate. This is not a bound. HBM bytes of messages are not
/// counted, shared or not: nothing runs beside them here, and alone they seldom fill the HBM.
sim::Seconds roofline_serial(const StepPrograms& programs, const topology::Lattice& slice,
                             const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
