// Inputs that several benchmarks share: a collective over all axes of a v5p slice, and the quick
// start with settings.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::bench {

inline constexpr const char* kPod = "16x20x28";  ///< 8960 chips

inline scenarios::CollectiveRequest whole_slice(collectives::Operation operation,
                                                const std::string& slice, double bytes) {
    scenarios::CollectiveRequest request;
    request.hardware = scenarios::hardware_from_options({.chip = "v5p", .slice = slice});
    request.operation = operation;
    request.members =
        scenarios::parse_members("xyz", request.hardware.slice, request.hardware.slices);
    request.bytes = sim::Bytes(bytes);
    return request;
}

inline scenarios::Scenario quick_start(const std::vector<std::string>& settings = {}) {
    return scenarios::load_scenario(
        std::string(PODSIM_SOURCE_DIR) + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml", settings);
}

}  // namespace podsim::bench
