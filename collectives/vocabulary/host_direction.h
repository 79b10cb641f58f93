// The direction of a transfer between a chip's HBM and its host's memory.
#pragma once

namespace podsim::collectives {

enum class HostDirection { to_chip, to_host };

}  // namespace podsim::collectives
