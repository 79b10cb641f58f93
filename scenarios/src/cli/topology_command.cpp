// `podsim topology`: the components of a machine, before any traffic.
#include <fmt/format.h>
#include <ostream>
#include <sstream>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/scenario/collective_ends.h"
#include "scenarios/src/scenario/load.h"
#include "topology/chips/slice_names.h"
#include "topology/graph/graphviz.h"
#include "topology/graph/machine_totals.h"
#include "topology/graph/metrics.h"

namespace podsim::scenarios {
namespace {

using topology::LinkClass;

constexpr LinkClass kClasses[] = {LinkClass::hbm, LinkClass::ici, LinkClass::pcie, LinkClass::dcn};

void add_dead_link(const std::string& text, const Hardware& hardware, topology::DeadLinks& dead) {
    const std::size_t at = text.find('@');
    if (at != 1 || text[0] < 'x' || text[0] > 'z') {
        throw sim::InputError("not a link", "write an axis and a chip, such as x@0,1,2");
    }
    const int axis = text[0] - 'x';
    const topology::Point chip = parse_chip(text.substr(at + 1), hardware);
    const int place = dead.places().index(chip);
    if (hardware.slice.length(axis) == 1 || !dead.next(place, axis, 1).has_value()) {
        throw sim::InputError(fmt::format("no link leads from there along {}", text[0]),
                              "name an axis longer than 1, and not the end of one that is not "
                              "wrapped");
    }
    dead.add(place, axis);
}

topology::DeadLinks read_dead_links(const Usage& options, const Hardware& hardware) {
    topology::DeadLinks dead;
    for (const std::string& text : options.all("dead")) {
        if (dead.axes() == 0) {
            dead = topology::DeadLinks(hardware.slice);
        }
        try {
            add_dead_link(text, hardware, dead);
        } catch (const sim::InputError& error) {
            throw error.at({fmt::format("--dead {}", printable(text)), 0, 0});
        }
    }
    return dead;
}

struct Findings {
    topology::TopologyMetrics metrics;
    topology::MachineTotals totals;
    bool dead_links = false;
};

std::string text_of(const Hardware& hardware, const Findings& found) {
    const topology::TopologyMetrics& metrics = found.metrics;
    const topology::MachineTotals& totals = found.totals;
    Table table({1});
    table.row({"chips", std::to_string(metrics.chips)});
    table.row({"hosts", std::to_string(metrics.hosts)});
    table.row({"ICI links", fmt::format("{} (each with both directions)", metrics.ici_links)});
    table.row({"diameter", fmt::format("{} hops", metrics.diameter_hops)});
    table.row({"mean distance", fmt::format("{:.4g} hops", metrics.mean_hops)});
    table.row({"bisection", metrics.bisection_links.has_value()
                                ? fmt::format("{} links", *metrics.bisection_links)
                                : "no axis has an even length"});
    if (found.dead_links) {
        table.row({"cut off", fmt::format("{} chips", metrics.chips_cut_off)});
    }
    table.row({"cores", std::to_string(totals.cores)});
    table.row({"bf16 matmuls", format_flops_rate(totals.bf16_flops)});
    table.row({"HBM", format_bytes(totals.hbm_capacity)});
    for (const LinkClass link_class : kClasses) {
        const topology::ClassTotals& links = totals.of(link_class);
        table.row({fmt::format("{} in all", topology::to_string(link_class)),
                   fmt::format("{} over {} directed links", format_rate(links.rate), links.links)});
    }
    return slice_text(hardware) + '\n' + table.text(2);
}

Json json_of(const Hardware& hardware, const Findings& found) {
    const topology::TopologyMetrics& metrics = found.metrics;
    const int dimensions = hardware.chip.torus_dimensions.value;
    Json wrapped = Json::array();
    for (int axis = 0; axis < dimensions; ++axis) {
        wrapped.push_back(metrics.wrapped[static_cast<std::size_t>(axis)]);
    }
    Json links = Json::object();
    for (const LinkClass link_class : kClasses) {
        const topology::ClassTotals& of_class = found.totals.of(link_class);
        links[std::string(topology::to_string(link_class))] = {
            {"directed_links", of_class.links}, {"rate_bytes_per_s", of_class.rate.value()}};
    }
    Json json = {{"schema", kSchemaName},
                 {"chip", hardware.chip.name},
                 {"slice", topology::to_string(hardware.shape, dimensions)},
                 {"twisted", hardware.twisted},
                 {"slices", hardware.slices},
                 {"chips", metrics.chips},
                 {"hosts", metrics.hosts},
                 {"ici_links", metrics.ici_links},
                 {"wrapped", std::move(wrapped)},
                 {"diameter_hops", metrics.diameter_hops},
                 {"mean_hops", metrics.mean_hops},
                 {"bisection_links", nullptr},
                 {"chips_cut_off", metrics.chips_cut_off},
                 {"cores", found.totals.cores},
                 {"bf16_flops_per_s", found.totals.bf16_flops.value()},
                 {"int8_ops_per_s", found.totals.int8_ops.value()},
                 {"fp8_flops_per_s", found.totals.fp8_flops.value()},
                 {"hbm_bytes", found.totals.hbm_capacity.value()},
                 {"links", std::move(links)}};
    if (metrics.bisection_links.has_value()) {
        json["bisection_links"] = *metrics.bisection_links;
    }
    return json;
}

}  // namespace

Usage topology_usage() {
    Usage usage(
        "topology --chip v4p --slice 4x4x8 [--twisted] [--slices N] [--dead x@0,1,2]...\n"
        "       [--graphviz PATH] [--json PATH|-]",
        "Measures a machine: chips, hosts, links and their rates; of a slice, which axes wrap,\n"
        "distances, bisection.",
        "podsim topology --chip v4p --slice 4x4x8 --twisted");
    add_chip_option(usage);
    usage.value("slice", "chips along each axis, as in 16x20x28, or a name such as v5p-512");
    usage.flag("twisted", "a twisted torus (k x k x 2k, k x 2k x 2k)");
    usage.value("slices", "number of slices, joined by the data-centre network", "1");
    usage.values("dead",
                 "a link that carries nothing, both ways: AXIS@X,Y,Z, from that chip towards "
                 "higher coordinates; may be repeated");
    usage.file("graphviz", "write the machine as a Graphviz graph, for `dot -Tpng`");
    usage.file("json", "write the result as JSON to a file, or alone to standard output (-)");
    return usage;
}

int command_topology(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = topology_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    IdealHardware hardware = hardware_from_options({.chip = chip_option(options),
                                                    .slice = options.get("slice"),
                                                    .twisted = options.is_set("twisted")});
    hardware.slices = read_slices(options, hardware);
    const topology::DeadLinks dead = read_dead_links(options, hardware);
    const std::string json = output_path(options, "json");
    const std::string graphviz = output_path(options, "graphviz");
    refuse_dash("--graphviz", graphviz);
    const topology::MachineGraph machine = topology::machine_graph(
        topology::Places(hardware.slice, hardware.slices), hardware.chip.host_shape.value,
        topology::link_kinds(hardware.chip, hardware.ici_rates, hardware.oversubscription));
    const Findings found{topology::measure(machine, dead),
                         topology::totals(machine, hardware.chip, dead), dead.axes() != 0};
    if (json != "-") {
        if (topology::is_slice_name(options.get("slice"))) {
            out << topology::describe_named(options.get("slice")) << '\n';
        }
        out << text_of(hardware, found);
    }
    if (!json.empty()) {
        write_json(json_of(hardware, found), json, out);
    }
    if (!graphviz.empty()) {
        std::ostringstream graph;
        topology::write_graphviz(graph, machine);
        write_file("--graphviz", graphviz, graph.str());
    }
    return kDone;
}

}  // namespace podsim::scenarios
