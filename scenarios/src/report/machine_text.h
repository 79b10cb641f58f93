// The machine in words: its slice, the use of its links, and the effort of a simulation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Wall time of a command, in seconds: the only part of a report that differs from run to run.
struct WallTime {
    double simulated_s = 0;
    /// Additional time for the critical path and the runs behind the gap.
    double explained_s = 0;
};

/// `v5p 16x20x28, 8960 chips, x y z wrapped`.
std::string slice_text(const Hardware& hardware);

/// Returns links by class, with busy fraction and bytes; empty without links.
std::string links_report(std::span<const LinkUse> links);

/// Returns the last line of a report: `simulated 4 of 8960 chips (folded), 12345 events of which
/// 1234 played, 0.012 s wall time, explained in another 0.1 s wall time`. Without `played_events`
/// no event was skipped as a repeat; without a time for it nothing was explained.
std::string effort_line(int simulated_chips, int chips, std::uint64_t events, WallTime wall,
                        std::optional<std::uint64_t> played_events = std::nullopt);

}  // namespace podsim::scenarios
