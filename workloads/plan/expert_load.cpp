#include "workloads/plan/expert_load.h"

#include <algorithm>

namespace podsim::workloads {

bool ExpertLoad::uneven() const {
    return std::ranges::any_of(loads, [](double load) { return load != 1; });
}

}  // namespace podsim::workloads
