// How often the memories at the ends of a message's way are read and written for each of its bytes.
//
// A copy is read once where it starts and written once where it ends. A partial sum is also added to the chip's own: it
// lands, is read again, the own part is read, and their sum is written; with the read of the next send that is 5 bytes
// for each that moves. TPUs have no adder on the way: published reduce-scatter kernels (docs.jax.dev, Pallas, "Distributed
// Computing in Pallas for TPUs") receive into HBM and add block by block in VMEM; no source was found that says otherwise
// of XLA's own.
#pragma once

#include <cstdint>

namespace podsim::collectives {

inline constexpr std::uint8_t kWritesOfCopy = 1;
inline constexpr std::uint8_t kPassesOfSum = 4;  ///< at the end of the way

}  // namespace podsim::collectives
