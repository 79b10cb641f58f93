#include "scenarios/src/simulate/shares.h"

#include <algorithm>

namespace podsim::scenarios {

std::vector<Share> by_cause(std::span<const Share> shares) {
    std::vector<Share> causes;
    for (const Share& share : shares) {
        const std::string& cause = share.cause.empty() ? share.name : share.cause;
        const auto found = std::ranges::find(causes, cause, &Share::name);
        if (found == causes.end()) {
            causes.push_back({cause, share.time});
        } else {
            found->time += share.time;
        }
    }
    std::ranges::stable_sort(causes, std::ranges::greater(), &Share::time);
    return causes;
}

}  // namespace podsim::scenarios
