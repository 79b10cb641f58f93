#include "topology/chips/core_clocks.h"

#include <cmath>

namespace podsim::topology {

std::optional<double> pace_in_state(const ChipSpec& chip, int state) {
    const std::vector<double>& ghz = chip.clock_ghz.value;
    if (!has_states(chip) || state < 0 || static_cast<std::size_t>(state) >= ghz.size()) {
        return std::nullopt;
    }
    const auto& [measured_state, pace] = chip.measured_pace.value;
    if (state == measured_state) {
        return pace;
    }
    return std::round(ghz[static_cast<std::size_t>(state)] / usual_ghz(chip) * 1000) / 1000;
}

}  // namespace podsim::topology
