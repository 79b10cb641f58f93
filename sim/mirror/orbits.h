// What mirrors make of places and ports together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/mirror/fold_by_mirrors.h"
#include "sim/workload/machine.h"

namespace podsim::sim {

/// The group that the mirrors generate, and what it does to places and ports. Element e of it applies those of the moving
/// mirrors whose bits it has; the others leave places where they are, and of the ports that they exchange the first are kept.
struct Orbits {
    std::vector<const Mirror*> mirrors;
    std::vector<std::size_t> moving;                ///< indices of mirrors
    std::vector<std::size_t> turning;               ///< the others
    std::vector<std::vector<std::uint32_t>> ports;  ///< [element][port]: the kept one of its image
    std::vector<std::uint32_t> element;         ///< [place]: that takes it to its representative
    std::vector<std::uint32_t> representative;  ///< [place]: a place of the original
    std::vector<std::uint32_t> kept;            ///< the representatives, ascending
    std::vector<std::uint32_t> number;          ///< [place]: of its representative, in `kept`
};

/// Nothing where a product of moving mirrors leaves a place where it is.
std::optional<Orbits> orbits_of(const Machine& machine, std::vector<const Mirror*> mirrors);

}  // namespace podsim::sim
