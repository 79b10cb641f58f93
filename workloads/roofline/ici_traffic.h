// What a program's operations put on the links within a slice at the least, whatever carries them.
#pragma once

#include <array>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "collectives/vocabulary/collective_call.h"
#include "sim/base/quantity.h"
#include "topology/lattice/lattice.h"
#include "topology/mesh/mesh.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Of one chip. What a collective between slices moves within them is left out.
struct IciTraffic {
    static constexpr unsigned kSets = 1U << topology::kAxes;

    /// [set]: of operations that use exactly those axes. `mean`, of twisted slices: what links carry, as far as it is known, of several
    /// axes together in the last set.
    std::array<collectives::LeastTraffic, kSets> by_axes{};
    /// Of other slices, what links carry.
    collectives::LinkLoad carried{};
    /// Of operations between given chips: LeastCarried::up and down.
    std::array<std::vector<double>, topology::kAxes> up{};
    std::array<std::vector<double>, topology::kAxes> down{};

    /// Of operations that use only axes of a set.
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
