// The ports of a place: six links of the torus, then those of the chip and of its host.
//
// A host's links are ports of the chip that stands for it (Shift::to_host); those ports of its other
// chips are not used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "topology/lattice/lattice.h"

namespace podsim::collectives {

/// Port of the link along `axis` in `direction` (+1 or -1): 2 axis, or 2 axis + 1.
constexpr std::uint32_t port_of(int axis, int direction) {
    return static_cast<std::uint32_t>(2 * axis + (direction < 0 ? 1 : 0));
}
inline constexpr std::size_t kIciPorts = std::size_t{2} * topology::kAxes;

inline constexpr std::uint32_t kPcieToHost = 6;
inline constexpr std::uint32_t kPcieToChip = 7;
inline constexpr std::uint32_t kDcnOut = 8;  ///< of the host
inline constexpr std::uint32_t kDcnIn = 9;   ///< of the host
inline constexpr std::size_t kAllPorts = 10;

}  // namespace podsim::collectives
