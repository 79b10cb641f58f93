#include "collectives/vocabulary/ring_step.h"

#include <algorithm>
#include <cstddef>

namespace podsim::collectives {

int SteppedGather::source(int member, std::size_t piece) const {
    const auto at = std::ranges::find(ring, member) - ring.begin();
    const auto length = static_cast<std::ptrdiff_t>(ring.size());
    return ring[static_cast<std::size_t>(
        (at - static_cast<std::ptrdiff_t>(piece) % length + length) % length)];
}

}  // namespace podsim::collectives
