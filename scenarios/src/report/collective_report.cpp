#include "scenarios/src/report/collective_report.h"

#include <fmt/format.h>

#include "collectives/catalogue/operations.h"
#include "collectives/paths/factors.h"
#include "scenarios/src/advise/advice.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/scenario/collective_ends.h"

namespace podsim::scenarios {
namespace {

using collectives::EndsTaken;

/// Returns `weighted`, `weighted (picked by auto)`, or `flat (one-way was asked for; ...)`: between
/// single chips of slices all algorithms are flat.
std::string algorithm_text(const CollectiveRun& run) {
    const collectives::Algorithm asked = run.request.algorithm;
    std::string text(collectives::to_string(run.result.algorithm));
    if (asked == collectives::Algorithm::automatic) {
        return text + " (picked by auto)";
    }
    if (asked != run.result.algorithm) {
        text += fmt::format(" ({} was asked for; between single chips of slices all are flat)",
                            collectives::to_string(asked));
    }
    return text;
}

/// Returns `from (0,0) to (3,3)`, `to (0,0)`, `by 1`; empty if all members are alike.
std::string ends_text(const CollectiveRequest& request) {
    const std::string root = fmt::format("({})", chip_text(request.ends.root, request.hardware));
    const collectives::OperationInfo& row = collectives::info(request.operation);
    switch (row.ends) {
        case EndsTaken::shift:
            return fmt::format("by {}", request.ends.shift);
        case EndsTaken::two_chips:
            return fmt::format("from {} to ({})", root,
                               chip_text(request.ends.to, request.hardware));
        case EndsTaken::root:
            return (row.towards_root ? "to " : "from ") + root;
        case EndsTaken::none:
            break;
    }
    return {};
}

/// Returns `all-gather over xyz of ARRAY (v5p ...), 64 members`; `gather to (0,0) over xy of ARRAY
/// ...`.
std::string subject(const CollectiveRun& run, const std::string& array) {
    const std::string ends = ends_text(run.request);
    return fmt::format(
        "{}{}{} of {} ({}), {} members", collectives::to_string(run.request.operation),
        ends.empty() ? ends : " " + ends, run.axes.empty() ? run.axes : " over " + run.axes, array,
        slice_text(run.request.hardware), member_count(run));
}

/// Returns `  x: ring of 16, y%4: line of 4`. A short axis of a twisted slice has no ring of its
/// length.
std::string served(const CollectiveRun& run) {
    if (!run.result.served.empty()) {
        return "  " + run.result.served + '\n';
    }
    if (collectives::info(run.request.operation).routed) {
        return {};  // the algorithm's name says it
    }
    if (collectives::spans_twisted_slice(run.request.hardware.slice, run.request.members.group)) {
        return "  x, y, z: rings modulo what the axes before have gathered\n";
    }
    const topology::Lattice& slice = run.request.hardware.slice;
    std::string text;
    bool no_ring = false;
    for (const topology::AxisFactor& factor : run.request.members.group) {
        const std::string_view by = served_by(run, factor);
        text +=
            fmt::format("{}{}: {} of {}", text.empty() ? "  " : ", ",
                        topology::to_string(factor, slice.length(factor.axis)), by, factor.length);
        no_ring = no_ring || (by == "line" && slice.twisted() && factor.stride == 1 &&
                              factor.length == slice.length(factor.axis));
    }
    if (run.request.members.across.length > 1) {
        text += fmt::format("{}{} slices: exchanged over PCIe and DCN", text.empty() ? "  " : ", ",
                            run.request.members.across.length);
    }
    if (no_ring) {
        text += " (walking along a twisted axis does not return after its length)";
    }
    return text.empty() ? text : text + '\n';
}

std::string times(const CollectiveRun& run) {
    const CollectiveResult& result = run.result;
    Table table;
    const auto row = [&](std::string name, double seconds) {
        table.row({std::move(name), format_time(seconds),
                   seconds > 0 ? fmt::format("{:.4f}", seconds / result.simulated.seconds()) : ""});
    };
    table.row({"", "time", "estimate/simulated"});
    row("simulated", result.simulated.seconds());
    if (result.analytic.has_value()) {
        row("closed form", result.analytic->value());
    }
    row("book", result.book.value());
    row("physical bound", result.physical_bound.value());
    const collectives::Bandwidth bandwidth = bandwidth_of(run);
    return table.text(2) + fmt::format("  algorithm bandwidth {}, bus bandwidth {}\n",
                                       format_rate(bandwidth.algorithm),
                                       format_rate(bandwidth.bus));
}

/// Prints times to the picosecond, so that the column adds up.
std::string gap(const CollectiveResult& result) {
    Table table;
    table.row({"Gap: simulated - physical bound", "us", "% of simulated"});
    const auto row = [&](const std::string& name, sim::Time time) {
        table.row({"  " + name, fmt::format("{:.6f}", static_cast<double>(time.ps) / 1e6),
                   fmt::format("{:.1f}", 100 * share_of(time, result))});
    };
    sim::Time total;
    for (const Share& term : result.gap) {
        total += term.time;
        if (term.time.ps != 0) {
            row(term.name, term.time);
        }
    }
    row("gap", total);
    return table.text(0) + negative_terms(result.gap);
}

std::string shares(const CollectiveResult& result) {
    std::string text =
        fmt::format("{}: {:.1f} % of the time is latency, {:.1f} % bandwidth",
                    to_string(result.regime()), 100 * share_of(result.parts.latency, result),
                    100 * share_of(result.parts.bandwidth, result));
    if (result.parts.launch.ps != 0) {
        text += fmt::format(", {:.1f} % launch", 100 * share_of(result.parts.launch, result));
    }
    return text + '\n';
}

std::string links(const CollectiveResult& result) {
    if (result.links.empty()) {
        return {};
    }
    Table table;
    table.row({"Links", "busy", "busiest", "bytes a link", "most bytes"});
    for (const LinkUse& use : result.links) {
        table.row({"  " + use.name, fmt::format("{:.1f} %", 100 * use.busy_fraction),
                   fmt::format("{:.1f} %", 100 * use.busiest_fraction), format_bytes(use.bytes),
                   format_bytes(use.busiest_bytes)});
    }
    std::string text = table.text(0);
    // No link limits a collective that is bound by latency.
    const char* const verb = result.regime() == Regime::latency_bound ? "busiest:" : "limited by";
    for (const LimitingLinks& limiting : result.limiting) {
        text += fmt::format("  {} {}, ", verb, limiting.name);
        text += limiting.place.empty() ? "all alike"
                                       : fmt::format("{} ({} of {} links)", limiting.place,
                                                     limiting.links, limiting.of);
        text += fmt::format(", busy {:.1f} %\n", 100 * limiting.busy_fraction);
    }
    return text;
}

}  // namespace

std::string collective_report(const CollectiveRun& run) {
    const CollectiveResult& result = run.result;
    return subject(run, format_bytes(run.request.bytes)) +
           fmt::format(", algorithm {}, {} hops\n", algorithm_text(run), result.hops) +
           served(run) + times(run) + '\n' + gap(result) + '\n' + shares(result) + '\n' +
           links(result) + '\n' +
           effort_line(result.simulated_chips, run.request.hardware.chips(), result.events,
                       {.simulated_s = run.wall_time_s});
}

std::string size_sweep_report(std::span<const CollectiveRun> runs) {
    Table table({6, 7});
    table.row({"bytes", "time", "algorithm bw", "bus bw", "bound/time", "latency", "regime",
               "algorithm"});
    std::uint64_t events = 0;
    WallTime wall;
    for (const CollectiveRun& run : runs) {
        const CollectiveResult& result = run.result;
        const collectives::Bandwidth bandwidth = bandwidth_of(run);
        table.row({format_bytes(run.request.bytes), format_time(result.simulated.seconds()),
                   format_rate(bandwidth.algorithm), format_rate(bandwidth.bus),
                   fmt::format("{:.4f}", bound_over_simulated(result)),
                   fmt::format("{:.1f} %", 100 * share_of(result.parts.latency, result)),
                   std::string(to_string(result.regime())),
                   std::string(collectives::to_string(result.algorithm))});
        events += result.events;
        wall.simulated_s += run.wall_time_s;
    }
    const CollectiveRun& last = runs.back();
    const std::string range = fmt::format("{} to {}", format_bytes(runs.front().request.bytes),
                                          format_bytes(last.request.bytes));
    const bool picked = last.request.algorithm == collectives::Algorithm::automatic;
    return subject(last, range) + (picked ? ", algorithms picked by auto for each size" : "") +
           '\n' + table.text(2) + '\n' +
           effort_line(last.result.simulated_chips, last.request.hardware.chips(), events, wall);
}

}  // namespace podsim::scenarios
