#include "scenarios/report/collective_report.h"

#include <fmt/format.h>

#include "collectives/catalogue/bandwidth.h"
#include "scenarios/load/collective_ends.h"
#include "scenarios/text/format.h"

namespace podsim::scenarios {
namespace {

collectives::Bandwidth bandwidth_of(const CollectiveRun& run) {
    return collectives::bandwidth(run.request.operation, run.request.members.size(),
                                  run.request.bytes, sim::Seconds(run.result.simulated.seconds()));
}

double share(sim::Time part, const CollectiveResult& result) {
    return part.seconds() / result.simulated.seconds();
}

double bound_over_simulated(const CollectiveResult& result) {
    return result.physical_bound.value() / result.simulated.seconds();
}

/// `weighted`, or `weighted (picked by auto)`.
std::string algorithm_text(const CollectiveRun& run) {
    const bool picked = run.request.algorithm == collectives::Algorithm::automatic;
    return std::string(collectives::to_string(run.result.algorithm)) +
           (picked ? " (picked by auto)" : "");
}

int members(const CollectiveRun& run) {
    const bool send = run.request.operation == collectives::Operation::send;
    return send ? 2 : run.request.members.size();
}

/// `all-gather over xyz of ARRAY (v5p ...), 64 members`; `gather to (0,0) over xy of ARRAY ...`.
std::string subject(const CollectiveRun& run, const std::string& array) {
    const std::string ends = ends_text(run.request);
    return fmt::format("{}{}{} of {} ({}), {} members, algorithm {}",
                       collectives::to_string(run.request.operation),
                       ends.empty() ? ends : " " + ends,
                       run.axes.empty() ? run.axes : " over " + run.axes, array,
                       slice_text(run.request.hardware), members(run), algorithm_text(run));
}

/// What the algorithm walks along one factor of the group.
std::string_view served_by(const CollectiveRun& run, const topology::AxisFactor& factor) {
    const topology::Lattice& slice = run.request.hardware.slice;
    if (run.request.operation == collectives::Operation::all_to_all ||
        run.request.operation == collectives::Operation::permute) {
        return "shortest routes";
    }
    if (run.request.operation == collectives::Operation::broadcast) {
        return "trees";
    }
    if (collectives::is_rooted(run.request.operation)) {
        return "routes";
    }
    if (collectives::spans_twisted_slice(slice, run.request.members.group)) {
        return "ring modulo what is gathered";
    }
    return collectives::factor_kind(slice, factor).ring ? "ring" : "line";
}

/// `  x: ring of 16, y%4: line of 4`; a short axis of a twisted slice has no ring of its length.
std::string served(const CollectiveRun& run) {
    if (!run.result.served.empty()) {
        return "  " + run.result.served + '\n';
    }
    if (run.request.operation == collectives::Operation::all_to_all ||
        run.request.operation == collectives::Operation::permute) {
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
    // The reference text has all-to-all on one ring only.
    const bool beyond_book = run.request.operation == collectives::Operation::all_to_all &&
                             run.request.members.group.size() > 1;
    row(beyond_book ? "book, as if one ring" : "book", result.book.value());
    row("physical bound", result.physical_bound.value());
    const collectives::Bandwidth bandwidth = bandwidth_of(run);
    return table.text(2) + fmt::format("  algorithm bandwidth {}, bus bandwidth {}\n",
                                       format_rate(bandwidth.algorithm),
                                       format_rate(bandwidth.bus));
}

/// Times to the picosecond, so that the column adds up.
std::string gap(const CollectiveResult& result) {
    Table table;
    table.row({"Gap: simulated - physical bound", "us", "% of simulated"});
    const auto row = [&](const std::string& name, sim::Time time) {
        table.row({"  " + name, fmt::format("{:.6f}", static_cast<double>(time.ps) / 1e6),
                   fmt::format("{:.1f}", 100 * share(time, result))});
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
    std::string text = fmt::format(
        "{}: {:.1f} % of the time is latency, {:.1f} % bandwidth", to_string(result.regime()),
        100 * share(result.parts.latency, result), 100 * share(result.parts.bandwidth, result));
    if (result.parts.launch.ps != 0) {
        text += fmt::format(", {:.1f} % launch", 100 * share(result.parts.launch, result));
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
    // Where latency rules, no link limits.
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

Json factors_json(const CollectiveRun& run) {
    const topology::Lattice& slice = run.request.hardware.slice;
    Json array = Json::array();
    for (const topology::AxisFactor& factor : run.request.members.group) {
        array.push_back({{"factor", topology::to_string(factor, slice.length(factor.axis))},
                         {"members", factor.length},
                         {"served_by", served_by(run, factor)}});
    }
    return array;
}

Json limiting_json(const CollectiveResult& result) {
    Json array = Json::array();
    for (const LimitingLinks& limiting : result.limiting) {
        array.push_back({{"link", limiting.name},
                         {"place", limiting.place.empty() ? "all alike" : limiting.place},
                         {"links", limiting.links},
                         {"of", limiting.of},
                         {"busy_fraction", limiting.busy_fraction}});
    }
    return array;
}

Json gap_json(const CollectiveResult& result) {
    Json object = Json::object();
    for (const Share& term : result.gap) {
        object[term.name] = decimal_seconds(term.time);
    }
    return object;
}

}  // namespace

std::string collective_report(const CollectiveRun& run) {
    const CollectiveResult& result = run.result;
    return subject(run, format_bytes(run.request.bytes)) + fmt::format(", {} hops\n", result.hops) +
           served(run) + times(run) + '\n' + gap(result) + '\n' + shares(result) + '\n' +
           links(result) + '\n' +
           effort_line(result.simulated_chips, run.request.hardware.chips(), result.events,
                       result.wall_time_s);
}

Json collective_json(const CollectiveRun& run) {
    const CollectiveRequest& request = run.request;
    const CollectiveResult& result = run.result;
    const Hardware& hardware = request.hardware;
    const collectives::Bandwidth bandwidth = bandwidth_of(run);
    Json json = {
        {"schema", kSchemaName},
        {"chip", hardware.chip.name},
        {"slice", topology::to_string(hardware.shape, hardware.chip.torus_dimensions.value)},
        {"twisted", hardware.twisted},
        {"slices", hardware.slices},
        {"chips", hardware.chips()},
        {"op", collectives::to_string(request.operation)},
        {"axes", run.axes},
        {"members", members(run)},
        {"bytes", request.bytes.value()},
        {"dtype", run.dtype},
        {"latency", hardware.latency == LatencyRule::additive ? "additive" : "floor"},
        {"simulated_s", decimal_seconds(result.simulated)},
        {"analytic_s", nullptr},
        {"book_s", result.book.value()},
        {"physical_bound_s", result.physical_bound.value()},
        {"bound_over_simulated", bound_over_simulated(result)},
        {"algorithm_bandwidth_bytes_per_s", bandwidth.algorithm.value()},
        {"bus_bandwidth_bytes_per_s", bandwidth.bus.value()},
        {"requested_algorithm", collectives::to_string(request.algorithm)},
        {"algorithm", collectives::to_string(result.algorithm)},
        {"factors", factors_json(run)},
        {"hops", result.hops},
        {"gap", gap_json(result)},
        {"shares",
         {{"launch", share(result.parts.launch, result)},
          {"latency", share(result.parts.latency, result)},
          {"bandwidth", share(result.parts.bandwidth, result)}}},
        {"regime", to_string(result.regime())},
        {"limiting", limiting_json(result)},
        {"links", links_json(result.links)},
        {"events", result.events},
        {"simulated_chips", result.simulated_chips},
        {"wall_time_s", result.wall_time_s}};
    json.update(ends_json(request));
    if (result.analytic.has_value()) {
        json["analytic_s"] = result.analytic->value();
    }
    return json;
}

std::string sweep_report(std::span<const CollectiveRun> runs) {
    Table table({6});
    table.row({"bytes", "time", "algorithm bw", "bus bw", "bound/time", "latency", "regime"});
    std::uint64_t events = 0;
    double wall_time_s = 0;
    for (const CollectiveRun& run : runs) {
        const CollectiveResult& result = run.result;
        const collectives::Bandwidth bandwidth = bandwidth_of(run);
        table.row({format_bytes(run.request.bytes), format_time(result.simulated.seconds()),
                   format_rate(bandwidth.algorithm), format_rate(bandwidth.bus),
                   fmt::format("{:.4f}", bound_over_simulated(result)),
                   fmt::format("{:.1f} %", 100 * share(result.parts.latency, result)),
                   std::string(to_string(result.regime()))});
        events += result.events;
        wall_time_s += result.wall_time_s;
    }
    const CollectiveRun& last = runs.back();
    const std::string range = fmt::format("{} to {}", format_bytes(runs.front().request.bytes),
                                          format_bytes(last.request.bytes));
    return subject(last, range) + '\n' + table.text(2) + '\n' +
           effort_line(last.result.simulated_chips, last.request.hardware.chips(), events,
                       wall_time_s);
}

std::string sweep_csv(std::span<const CollectiveRun> runs) {
    std::string text =
        "bytes,simulated_s,algorithm_bandwidth_bytes_per_s,bus_bandwidth_bytes_per_s,"
        "physical_bound_s,bound_over_simulated,latency_share,regime,algorithm\n";
    for (const CollectiveRun& run : runs) {
        const CollectiveResult& result = run.result;
        const collectives::Bandwidth bandwidth = bandwidth_of(run);
        text += fmt::format("{},{},{},{},{},{},{},{},{}\n", run.request.bytes.value(),
                            decimal_seconds(result.simulated), bandwidth.algorithm.value(),
                            bandwidth.bus.value(), result.physical_bound.value(),
                            bound_over_simulated(result), share(result.parts.latency, result),
                            to_string(result.regime()), collectives::to_string(result.algorithm));
    }
    return text;
}

}  // namespace podsim::scenarios
