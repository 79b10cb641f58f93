// The number of reads and writes of the memories at both ends of a message, for each of its bytes.
//
// A copy is read once at its source and written once at its destination. A partial sum is also
// added to the chip's own: it lands, is read again, the chip's own array is read, and their sum is
// written. With the read of the next send that is 5 bytes for each byte that moves. TPUs have no
// adder on the route: published reduce-scatter kernels (docs.jax.dev, Pallas, "Distributed
// Computing in Pallas for TPUs") receive into HBM and add block by block in VMEM. No source was
// found that says otherwise of XLA's own.
#pragma once

#include <cstdint>

namespace podsim::collectives {

inline constexpr std::uint8_t kWritesOfCopy = 1;
inline constexpr std::uint8_t kPassesOfSum = 4;  ///< at the destination

}  // namespace podsim::collectives
