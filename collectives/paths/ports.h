// The ports of a position: the machine graph's kinds of links (topology/graph/link_kinds.h) that
// messages hold.
//
// A host's links are ports of the chip that stands for it (Shift::to_host); its other chips do not
// use those ports.
#pragma once

#include <cstddef>

#include "topology/graph/link_kinds.h"

namespace podsim::collectives {

using topology::kDcnIn;
using topology::kDcnOut;
using topology::kIciPorts;
using topology::kPcieToChip;
using topology::kPcieToHost;
using topology::port_of;

/// The chip's own HBM is no port: messages do not wait for it.
inline constexpr std::size_t kAllPorts = 10;

}  // namespace podsim::collectives
