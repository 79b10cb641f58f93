// Lower bounds of the bytes that a program's operations put on the links within a slice,
// whatever carries them.
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

/// Traffic of one chip. Moves within a slice for collectives between slices are left out.
struct IciTraffic {
    static constexpr unsigned kSets = 1U << topology::kAxes;

    /// [set]: traffic of operations that use exactly these axes. `mean` is for twisted slices
    /// only: the bytes that links carry, as far as known. The last set then has those of
    /// several axes together.
    std::array<collectives::LeastTraffic, kSets> by_axes{};
    /// Bytes that links carry in slices without a twist.
    collectives::LinkLoad carried{};
    /// Operations between given chips: LeastCarried::up and down.
    std::array<std::vector<double>, topology::kAxes> up{};
    std::array<std::vector<double>, topology::kAxes> down{};

    /// Returns the traffic of operations that use only axes of a set.
    [[nodiscard]] collectives::LeastTraffic within(unsigned set) const;
};

/// Returns the traffic of each program.
std::vector<IciTraffic> ici_traffic(const StepPrograms& programs, const topology::Lattice& slice,
                                    const topology::DeviceMesh& mesh);

/// Returns the bytes on the busiest link of an axis that does not wrap. A link has those of the
/// program whose chips put the least there.
double busiest_cut(const std::vector<IciTraffic>& programs, int axis);

/// Returns the loads of an AllToAll of unequal members by their index in the group, and the
/// shift of a permute.
collectives::Ends ends_of(const Collective& collective, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh);

}  // namespace podsim::workloads
