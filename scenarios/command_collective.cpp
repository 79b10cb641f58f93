// `podsim collective`: one collective on an otherwise idle slice.
#include <fmt/format.h>
#include <ostream>

#include "scenarios/cli.h"
#include "scenarios/command.h"
#include "scenarios/load.h"
#include "scenarios/quantity_text.h"
#include "scenarios/text.h"
#include "sim/error.h"
#include "sim/nearest.h"

namespace podsim::scenarios {
namespace {

constexpr std::string_view kDtypes[] = {"bf16", "fp32", "fp16", "fp8", "int8", "int32"};

Usage usage() {
    Usage usage(
        "collective --chip v5p --slice 16x20x28 [--twisted] --op all-gather --axes xyz\n"
        "       --bytes 1e9 [--dtype bf16] [--latency additive|floor] [--algorithm NAME]\n"
        "       [--fold auto|off] [--json PATH|-]",
        "Simulates one collective hop by hop and sets it beside the algorithm's closed form,\n"
        "the reference text's estimate and the physical bound.",
        "podsim collective --chip v5p --slice 16x20x28 --op all-gather --axes xyz --bytes 1e9");
    usage.value("chip", "a chip of `podsim list chips`");
    usage.value("slice", "chips along each axis, as in 16x20x28");
    usage.flag("twisted", "a twisted torus (k x k x 2k, k x 2k x 2k)");
    usage.value("op", "all-gather, reduce-scatter, all-reduce or all-to-all");
    usage.value("axes", "the group: whole axes run together (xyz), or factors (\"x%4 y\")");
    usage.value("bytes", "size of the array as it is complete in one group: 1e9, 64 MiB");
    usage.value("dtype", "its element type; recorded only, bytes are bytes", "bf16");
    usage.value("latency", "additive or floor", "additive");
    usage.value("algorithm", "an algorithm of `podsim list algorithms`", "auto");
    usage.value("fold", "auto: simulate the chips that differ; off: simulate every chip", "auto");
    usage.value("json", "write the result as JSON to a file, or alone to standard output (-)");
    return usage;
}

/// Reads an option's value; errors name the option.
template <class Parse>
auto read(const Usage& options, const std::string& name, Parse parse) {
    const std::string value = options.get(name);
    try {
        return parse(value);
    } catch (const sim::InputError& error) {
        throw error.at({fmt::format("--{} {}", name, printable(value)), 0, 0});
    }
}

sim::Bytes parse_array(const std::string& text) {
    const sim::Bytes bytes = parse_bytes_or_number(text);
    constexpr double kMost = 1e15;
    if (bytes.value() <= 0 || bytes.value() > kMost) {
        throw sim::InputError("the size is out of range", "allowed: above 0, up to 1 PB");
    }
    return bytes;
}

std::string parse_dtype(const std::string& text) {
    for (const std::string_view dtype : kDtypes) {
        if (dtype == text) {
            return text;
        }
    }
    throw sim::unknown_name("dtype", printable(text), kDtypes);
}

std::string text_of(const CollectiveRequest& request, const CollectiveResult& result,
                    const std::string& axes) {
    Table table;
    const double simulated = result.simulated.seconds();
    const auto row = [&](std::string name, double seconds) {
        table.row({std::move(name), format_time(seconds),
                   seconds > 0 ? fmt::format("{:.4f}", seconds / simulated) : ""});
    };
    table.row({"", "time", "estimate/simulated"});
    row("simulated", simulated);
    if (result.analytic.has_value()) {
        row("closed form", result.analytic->value());
    }
    row("book", result.book.value());
    row("physical bound", result.physical_bound.value());
    return fmt::format("{} over {} of {} ({}), {} members, algorithm {}, {} hops\n",
                       collectives::to_string(request.operation), axes, format_bytes(request.bytes),
                       slice_text(request.hardware), collectives::group_size(request.group),
                       collectives::to_string(result.algorithm), result.hops) +
           table.text(2) + '\n' + links_report(result.links) + (result.links.empty() ? "" : "\n") +
           effort_line(result.simulated_chips, request.hardware.slice.size(), result.events,
                       result.wall_time_s);
}

Json json_of(const CollectiveRequest& request, const CollectiveResult& result,
             const std::string& axes, const std::string& dtype) {
    const Hardware& hardware = request.hardware;
    Json json = {
        {"schema", kSchemaName},
        {"chip", hardware.chip.name},
        {"slice", topology::to_string(hardware.shape, hardware.chip.torus_dimensions.value)},
        {"twisted", hardware.twisted},
        {"chips", hardware.slice.size()},
        {"op", collectives::to_string(request.operation)},
        {"axes", axes},
        {"members", collectives::group_size(request.group)},
        {"bytes", request.bytes.value()},
        {"dtype", dtype},
        {"latency", hardware.latency == LatencyRule::additive ? "additive" : "floor"},
        {"simulated_s", decimal_seconds(result.simulated)},
        {"analytic_s", nullptr},
        {"book_s", result.book.value()},
        {"physical_bound_s", result.physical_bound.value()},
        {"algorithm", collectives::to_string(result.algorithm)},
        {"hops", result.hops},
        {"links", links_json(result.links)},
        {"events", result.events},
        {"simulated_chips", result.simulated_chips},
        {"wall_time_s", result.wall_time_s}};
    if (result.analytic.has_value()) {
        json["analytic_s"] = result.analytic->value();
    }
    return json;
}

}  // namespace

int command_collective(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    CollectiveRequest request;
    request.hardware = hardware_from_options(options.get("chip"), options.get("slice"),
                                             options.is_set("twisted"), options.get("latency"));
    request.operation = read(options, "op", [](const std::string& text) {
        return collectives::parse_operation(printable(text));
    });
    request.group = read(options, "axes", [&](const std::string& text) {
        collectives::Group group = parse_group(text, request.hardware.slice);
        if (collectives::group_size(group) < 2) {
            throw sim::InputError("the group has a single member", "name axes longer than 1");
        }
        return group;
    });
    request.bytes = read(options, "bytes", parse_array);
    request.algorithm = read(options, "algorithm", [](const std::string& text) {
        return collectives::parse_algorithm(printable(text));
    });
    const std::string dtype = read(options, "dtype", parse_dtype);
    const Fold fold = parse_fold(options.get("fold"));
    const std::string json = options.has("json") ? options.get("json") : "";

    const CollectiveResult result = simulate_collective(request, fold);
    const std::string axes = options.get("axes");
    if (json != "-") {
        out << text_of(request, result, axes);
    }
    if (!json.empty()) {
        write_json(json_of(request, result, axes, dtype), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
