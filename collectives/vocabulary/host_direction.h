// Which way a transfer between a chip's HBM and its host's memory goes.
#pragma once

namespace podsim::collectives {

enum class HostDirection { to_chip, to_host };

}  // namespace podsim::collectives
