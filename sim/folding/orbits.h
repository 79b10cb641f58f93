// The joint effect of mirrors on places and ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/folding/fold_by_mirrors.h"
#include "sim/workload/machine.h"

namespace podsim::sim {

/// The group that the mirrors generate, and its effect on places and ports. Element e applies the
/// moving mirrors whose bits are set in e. The other mirrors leave places where they are; of the
/// ports that they exchange, the first are kept.
struct Orbits {
    std::vector<const Mirror*> mirrors;
    std::vector<std::size_t> moving;                ///< indices of mirrors
    std::vector<std::size_t> turning;               ///< the others
    std::vector<std::vector<std::uint32_t>> ports;  ///< [element][port]: the kept one of its image
    /// [place]: the element that maps it to its representative.
    std::vector<std::uint32_t> element;
    std::vector<std::uint32_t> representative;  ///< [place]: a place of the original
    std::vector<std::uint32_t> kept;            ///< the representatives, ascending
    std::vector<std::uint32_t> number;          ///< [place]: index of its representative in `kept`
};

/// Returns nullopt if a product of moving mirrors leaves a place where it is.
std::optional<Orbits> orbits_of(const Machine& machine, std::vector<const Mirror*> mirrors);

}  // namespace podsim::sim
