#include "scenarios/src/report/machine_text.h"

#include <fmt/format.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"

namespace podsim::scenarios {

std::string slice_text(const Hardware& hardware) {
    const topology::Lattice& slice = hardware.slice;
    std::string wrapped;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (slice.wraps(axis)) {
            wrapped += fmt::format("{} ", topology::axis_name(axis));
        }
    }
    const int chips = hardware.chips();
    return fmt::format("{} {}{}{}, {} {}, {}", hardware.chip.name,
                       hardware.slices == 1 ? "" : fmt::format("{} x ", hardware.slices),
                       topology::to_string(hardware.shape, hardware.chip.torus_dimensions.value),
                       hardware.twisted ? " twisted" : "", chips, chips == 1 ? "chip" : "chips",
                       wrapped.empty() ? "no axis wraps" : wrapped + "wrapped");
}

std::string links_report(std::span<const LinkUse> links) {
    if (links.empty()) {
        return {};
    }
    Table table;
    table.row({"Links", "busy", "bytes a link"});
    for (const LinkUse& link : links) {
        table.row({"  " + link.name, fmt::format("{:.1f} %", 100 * link.busy_fraction),
                   format_bytes(link.bytes)});
        for (const auto& [user, share] : link.by_user) {
            table.row({"    " + user, fmt::format("{:.1f} %", 100 * share), ""});
        }
    }
    return table.text(0);
}

std::string effort_line(int simulated_chips, int chips, std::uint64_t events, WallTime wall,
                        std::optional<std::uint64_t> played_events) {
    const std::string played =
        played_events.has_value() ? fmt::format(" of which {} played", *played_events) : "";
    const std::string explained =
        wall.explained_s > 0
            ? fmt::format(", explained in another {:.3f} s wall time", wall.explained_s)
            : "";
    return fmt::format("simulated {} of {} chips{}, {} events{}, {:.3f} s wall time{}\n",
                       simulated_chips, chips, simulated_chips < chips ? " (folded)" : "", events,
                       played, wall.simulated_s, explained);
}

}  // namespace podsim::scenarios
