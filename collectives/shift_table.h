// Displacements on a lattice of places, numbered as they are first used.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "topology/lattice.h"

namespace podsim::collectives {

class ShiftTable {
public:
    explicit ShiftTable(const topology::Lattice& places) : places_(places) {}

    [[nodiscard]] const topology::Lattice& places() const { return places_; }

    /// The number of this displacement.
    std::uint32_t number(const topology::Point& displacement);

    /// [shift][place] -> place, sim::kNoPlace beyond an edge: what sim::Machine::shifts holds.
    [[nodiscard]] const std::vector<std::uint32_t>& table() const { return table_; }

private:
    topology::Lattice places_;
    std::map<topology::Point, std::uint32_t> numbers_;
    std::vector<std::uint32_t> table_;
};

}  // namespace podsim::collectives
