#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

std::string_view to_string(Regime regime) {
    switch (regime) {
        case Regime::latency_bound:
            return "latency-bound";
        case Regime::between:
            return "in between";
        case Regime::bandwidth_bound:
            return "bandwidth-bound";
    }
    return "unknown";
}

Regime CollectiveResult::regime() const {
    const std::int64_t fixed = parts.launch.ps + parts.latency.ps;
    return fixed >= simulated.ps / 2   ? Regime::latency_bound
           : fixed < simulated.ps / 10 ? Regime::bandwidth_bound
                                       : Regime::between;
}

}  // namespace podsim::scenarios
