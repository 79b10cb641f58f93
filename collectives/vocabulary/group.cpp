#include "collectives/vocabulary/group.h"

namespace podsim::collectives {

int group_size(const Group& group) {
    int size = 1;
    for (const topology::AxisFactor& factor : group) {
        size *= factor.length;
    }
    return size;
}

unsigned axes_mask(const Group& group) {
    unsigned mask = 0;
    for (const topology::AxisFactor& factor : group) {
        mask |= 1U << factor.axis;
    }
    return mask;
}

}  // namespace podsim::collectives
