// What a program's operations put on the links within a slice at the least, whatever carries them.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "collectives/vocabulary/collective_call.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Of one chip. An AllToAll goes between given chips, so that its bytes count on every link of the shortest way; all others as often as
/// they must be received. What a collective between slices moves within them is left out.
struct IciTraffic {
    static constexpr unsigned kSets = 1U << topology::kAxes;

    /// [set]: of operations that use exactly those axes; `mean` without what is in `on_axis`.
    std::array<collectives::LeastTraffic, kSets> by_axes{};
    /// The mean over chips, of AllToAlls of slices that are not twisted.
    std::array<sim::Bytes, topology::kAxes> on_axis{};
    /// Of AllToAlls: LeastCarried::up and down.
    std::array<std::vector<double>, topology::kAxes> up{};
    std::array<std::vector<double>, topology::kAxes> down{};

    /// On links of a set of axes: what a chip must receive and send of operations that use only those, and what links carry.
    [[nodiscard]] collectives::LeastTraffic within(unsigned set) const;
};

/// [program].
std::vector<IciTraffic> ici_traffic(const StepPrograms& programs, const topology::Lattice& slice,
                                    const topology::DeviceMesh& mesh);

/// Bytes on the busiest link of an axis that does not wrap, as the chips of whichever program put the least there.
double busiest_cut(const std::vector<IciTraffic>& programs, int axis);

/// The loads of an AllToAll of unequal members by their places in the group, and the shift of a permute.
collectives::Ends ends_of(const Collective& collective, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh);

}  // namespace podsim::workloads
