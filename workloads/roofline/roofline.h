// The rooflines that stand beside every simulated step, at ideal rates whatever the profile: a true bound, and the same
// operations one after the other.
#pragma once

#include <string>

#include "collectives/vocabulary/operation.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Which resource a true lower bound comes from.
struct LowerBound {
    sim::Seconds time;
    std::string
        bound;  ///< `compute`, `hbm`, `vpu`, `dcn`, `pcie`, or the ICI axes of the tightest set: `ici x`
    sim::Seconds compute;       ///< sum of flops / peak
    sim::Seconds hbm;           ///< sum of HBM bytes / bandwidth
    sim::Seconds hbm_kernels;   ///< of it, those of kernels
    sim::Seconds vpu;           ///< sum of elementwise operations / rate
    sim::Seconds links;         ///< the tightest set of ICI axes, or PCIe, or DCN
    unsigned link_classes = 0;  ///< which: bit a for axis a, collectives::kPcieClass, kDcnClass
};

/// `roofline_lower`: the largest of the compute sum, the HBM sum, the VPU sum, and over every set S of ICI axes
///   the least bytes that a chip must receive, or must send, for the collectives and handovers that use only axes of S, at the
///     rate of its links on S (the weakest chip's);
///   what links must carry, the mean over chips, at the mean rate, for whichever weights of the axes that is longest (link_load.h): what goes
///     between given chips (AllToAll, permute, handover) every link of the shortest way, other collectives the links of trees
///     that join their members (on a twisted torus: of operations on axes of S what chips receive, and for all axes the ways);
///   on an axis that does not wrap the bytes of AllToAlls and permutes over the busiest link, the mean over its lines (ici_traffic.h);
/// and the least bytes that a slice must receive, must send, or on average receives, at the rate of its chips' PCIe links and of its
/// hosts' DCN links; and what a chip exchanges with its host, each way, at the rate of its PCIe link. What a collective between slices
/// moves within them is left out of the ICI sums.
/// Of several programs (StepPrograms) the one with most counts, for the mean all of them. Never above a simulated time.
///
/// The HBM sum is that of the kernels' bytes. Where the HBM is shared (MachineRates::hbm_shared) messages count, too, by what
/// any algorithm must read and write for them (MemoryTraffic), never by what the played ones do. It is then the larger of
///   for every program, its kernels' bytes and what each of its chips must read and write itself;
///   for every stage, the mean over its members of kernels' bytes and of the mean that messages must move: of the chips
///   of a stage, between which its collectives are, one has no less than the mean.
LowerBound roofline_lower(const StepPrograms& programs, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh, const MachineRates& rates);

/// `roofline_serial`: every operation at its ideal time (compute: max of flops / peak, hbm and vpu;
/// collective: its physical bound; handover: what it receives, at the rate of its routes; transfer to or from the host: at
/// PCIe's rate), one after the other; of several programs the longest. Not a bound. What messages read and write of HBM is not
/// counted, shared or not: nothing goes on beside them here, and alone they seldom fill it.
sim::Seconds roofline_serial(const StepPrograms& programs, const topology::Lattice& slice,
                             const topology::DeviceMesh& mesh, const MachineRates& rates);

}  // namespace podsim::workloads
