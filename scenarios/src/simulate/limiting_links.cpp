#include "scenarios/src/simulate/limiting_links.h"

#include <algorithm>
#include <fmt/format.h>

#include "collectives/paths/ports.h"

namespace podsim::scenarios {
namespace {

using topology::Lattice;
using topology::Point;

/// A link of the folded slice that is among the busiest.
struct Found {
    Point from;
    Point to;
    int direction = 1;
};

std::string coordinate(const Lattice& slice, const Lattice& folded, int axis, int at) {
    const int period = folded.length(axis);
    const std::string place = fmt::format("{}={}", topology::axis_name(axis), at);
    return period == slice.length(axis) ? place : fmt::format("{} mod {}", place, period);
}

/// True if the busiest links of that direction lie at every coordinate of `across`.
bool everywhere(const std::vector<Found>& found, const Found& one, int axis, int across,
                int length) {
    const auto along_axis = static_cast<std::size_t>(axis);
    std::vector<bool> seen(static_cast<std::size_t>(length));
    for (const Found& other : found) {
        if (other.direction == one.direction && other.from[along_axis] == one.from[along_axis]) {
            seen[static_cast<std::size_t>(other.from[static_cast<std::size_t>(across)])] = true;
        }
    }
    return std::ranges::count(seen, true) == length;
}

std::string place_text(const Lattice& slice, const Lattice& folded, int axis,
                       const std::vector<Found>& found) {
    const Found& one = found.front();
    const auto at = static_cast<std::size_t>(axis);
    std::string text =
        fmt::format("{}{}", one.direction > 0 ? '+' : '-', topology::axis_name(axis));
    if (folded.length(axis) > 1) {
        text += fmt::format(", from {} to {}", coordinate(slice, folded, axis, one.from[at]),
                            coordinate(slice, folded, axis, one.to[at]));
    }
    for (int across = 0; across < topology::kAxes; ++across) {
        if (across != axis && !everywhere(found, one, axis, across, folded.length(across))) {
            text += " at " +
                    coordinate(slice, folded, across, one.from[static_cast<std::size_t>(across)]);
        }
    }
    return text;
}

/// Adds the links of chips or hosts, at port `first_port` and the one after it.
void add_chip_links(const std::string& name, std::size_t first_port, const Layout& layout,
                    std::size_t ports, int repeats, double enough, const sim::ExecutionResult& run,
                    std::vector<LimitingLinks>& limiting) {
    LimitingLinks use{.name = name, .place = {}, .links = 0, .of = 0, .busy_fraction = 0};
    for (int place = 0; place < layout.folded.size(); ++place) {
        for (std::size_t port = first_port; port < first_port + 2; ++port) {
            const sim::Time busy = run.links[layout.link_of(place, port, ports)].busy;
            // The ports of chips that do not stand for a host are no links.
            use.of += busy.ps > 0 ? repeats : 0;
            if (busy.ps > 0 && busy.seconds() >= enough) {
                use.links += repeats;
                use.busy_fraction = std::max(use.busy_fraction, busy.seconds() / run.end.seconds());
            }
        }
    }
    if (use.links > 0) {
        use.place = use.links == use.of ? "" : "some";
        limiting.push_back(std::move(use));
    }
}

}  // namespace

sim::Time busiest_time(const sim::ExecutionResult& run) {
    sim::Time most;
    for (const sim::LinkTotals& link : run.links) {
        most = std::max(most, link.busy);
    }
    return most;
}

std::vector<LimitingLinks> limiting_links(const Hardware& hardware, const Layout& layout,
                                          const sim::ExecutionResult& run) {
    const Lattice& slice = hardware.slice;
    const Lattice& folded = layout.folded.chips;
    const std::size_t ports = run.links.size() / layout.simulated();
    const double enough = busiest_time(run).seconds() * (1 - kAlike);
    const int repeats = hardware.chips() / layout.folded.size();
    std::vector<LimitingLinks> limiting;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if (slice.length(axis) == 1 || run.end.ps == 0) {
            continue;
        }
        std::vector<Found> found;
        int links = 0;
        sim::Time most;
        for (const int direction : {1, -1}) {
            for (int place = 0; place < layout.folded.size(); ++place) {
                const Point from = layout.folded.point(place);
                const auto to = folded.canonical(from + topology::along(axis, direction));
                if (!to.has_value()) {
                    continue;
                }
                ++links;
                const sim::Time busy =
                    run.links[layout.link_of(place, collectives::port_of(axis, direction), ports)]
                        .busy;
                if (busy.ps > 0 && busy.seconds() >= enough) {
                    found.push_back({from, *to, direction});
                    most = std::max(most, busy);
                }
            }
        }
        if (found.empty()) {
            continue;
        }
        const bool all = static_cast<int>(found.size()) == links;
        limiting.push_back({.name = fmt::format("ici_{}", topology::axis_name(axis)),
                            .place = all ? "" : place_text(slice, folded, axis, found),
                            .links = static_cast<int>(found.size()) * repeats,
                            .of = links * repeats,
                            .busy_fraction = most.seconds() / run.end.seconds()});
    }
    if (ports == collectives::kAllPorts) {
        add_chip_links("pcie", collectives::kPcieToHost, layout, ports, repeats, enough, run,
                       limiting);
        add_chip_links("dcn", collectives::kDcnOut, layout, ports, repeats, enough, run, limiting);
    }
    return limiting;
}

}  // namespace podsim::scenarios
