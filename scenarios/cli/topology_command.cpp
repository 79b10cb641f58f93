// `podsim topology`: the shape of a slice, before any traffic.
#include <fmt/format.h>
#include <ostream>
#include <sstream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/cli/output.h"
#include "scenarios/load/load.h"
#include "scenarios/report/machine_text.h"
#include "scenarios/text/table.h"
#include "topology/graph/graphviz.h"
#include "topology/graph/metrics.h"

namespace podsim::scenarios {
namespace {

Usage usage() {
    Usage usage("topology --chip v4p --slice 4x4x8 [--twisted] [--graphviz PATH] [--json PATH|-]",
                "Measures a slice: chips, hosts, links, which axes wrap, distances, bisection.",
                "podsim topology --chip v4p --slice 4x4x8 --twisted");
    usage.value("chip", "a chip of `podsim list chips`");
    usage.value("slice", "chips along each axis, as in 16x20x28");
    usage.flag("twisted", "a twisted torus (k x k x 2k, k x 2k x 2k)");
    usage.value("graphviz", "write the slice as a Graphviz graph");
    usage.value("json", "write the result as JSON to a file, or alone to standard output (-)");
    return usage;
}

std::string text_of(const Hardware& hardware, const topology::TopologyMetrics& metrics) {
    Table table({1});
    table.row({"chips", std::to_string(metrics.chips)});
    table.row({"hosts", std::to_string(metrics.hosts)});
    table.row({"ICI links", fmt::format("{} (each with both directions)", metrics.ici_links)});
    table.row({"diameter", fmt::format("{} hops", metrics.diameter_hops)});
    table.row({"mean distance", fmt::format("{:.4g} hops", metrics.mean_hops)});
    table.row({"bisection", metrics.bisection_links.has_value()
                                ? fmt::format("{} links", *metrics.bisection_links)
                                : "no axis has an even length"});
    return slice_text(hardware) + '\n' + table.text(2);
}

Json json_of(const Hardware& hardware, const topology::TopologyMetrics& metrics) {
    const int dimensions = hardware.chip.torus_dimensions.value;
    Json wrapped = Json::array();
    for (int axis = 0; axis < dimensions; ++axis) {
        wrapped.push_back(metrics.wrapped[static_cast<std::size_t>(axis)]);
    }
    Json json = {{"schema", kSchemaName},
                 {"chip", hardware.chip.name},
                 {"slice", topology::to_string(hardware.shape, dimensions)},
                 {"twisted", hardware.twisted},
                 {"chips", metrics.chips},
                 {"hosts", metrics.hosts},
                 {"ici_links", metrics.ici_links},
                 {"wrapped", std::move(wrapped)},
                 {"diameter_hops", metrics.diameter_hops},
                 {"mean_hops", metrics.mean_hops},
                 {"bisection_links", nullptr}};
    if (metrics.bisection_links.has_value()) {
        json["bisection_links"] = *metrics.bisection_links;
    }
    return json;
}

}  // namespace

int command_topology(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    const IdealHardware hardware = hardware_from_options(options.get("chip"), options.get("slice"),
                                                         options.is_set("twisted"), "additive");
    const std::string json = output_path(options, "json");
    const std::string graphviz = output_path(options, "graphviz");
    refuse_dash("--graphviz", graphviz);
    const topology::TopologyMetrics metrics =
        topology::measure(hardware.slice, hardware.chip.host_shape.value);
    if (json != "-") {
        out << text_of(hardware, metrics);
    }
    if (!json.empty()) {
        write_json(json_of(hardware, metrics), json, out);
    }
    if (!graphviz.empty()) {
        std::ostringstream graph;
        topology::write_graphviz(graph, hardware.slice);
        write_file("--graphviz", graphviz, graph.str());
    }
    return kDone;
}

}  // namespace podsim::scenarios
