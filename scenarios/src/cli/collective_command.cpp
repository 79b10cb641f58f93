#include "scenarios/src/cli/collective_command.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/algorithms/messages.h"
#include "collectives/catalogue/operations.h"
#include "scenarios/src/base/format.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/size_range.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/report_option.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/cli/usage.h"
#include "scenarios/src/report/collective_json.h"
#include "scenarios/src/report/collective_page.h"
#include "scenarios/src/report/collective_report.h"
#include "scenarios/src/scenario/collective_ends.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/request.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "topology/chips/slice_names.h"

namespace podsim::scenarios {
namespace {

using collectives::EndsTaken;

/// An option, the operations that have it, and their name in the message.
struct Owner {
    const char* option;
    const char* operations;
    bool (*has)(EndsTaken);
};
constexpr Owner kOwners[] = {
    {"axes", "every operation but send", [](EndsTaken e) { return e != EndsTaken::two_chips; }},
    {"shift", "permute", [](EndsTaken e) { return e == EndsTaken::shift; }},
    {"root", "broadcast, gather and scatter", [](EndsTaken e) { return e == EndsTaken::root; }},
    {"from", "send", [](EndsTaken e) { return e == EndsTaken::two_chips; }},
    {"to", "send", [](EndsTaken e) { return e == EndsTaken::two_chips; }},
};

/// Reads the ends for the request's operation, slice and group. Throws sim::InputError for an
/// option that the operation does not have or lacks, for chips outside the slice, and for a shift
/// that moves nothing.
collectives::Ends read_ends(const Usage& options, const CollectiveRequest& request) {
    const EndsTaken taken = collectives::info(request.operation).ends;
    for (const Owner& owner : kOwners) {
        if (options.has(owner.option) && !owner.has(taken)) {
            throw sim::InputError(fmt::format("--{} does not go with --op {}", owner.option,
                                              collectives::to_string(request.operation)),
                                  fmt::format("it is for {}", owner.operations));
        }
    }
    const auto chip = [&](const std::string& option) {
        return read_option(options, option, [&](const std::string& text) {
            return parse_chip(text, request.hardware);
        });
    };
    collectives::Ends ends;
    if (options.has("shift")) {
        ends.shift = read_option(options, "shift", [&](const std::string& text) {
            return parse_shift(text, request.members.group);
        });
    }
    if (taken == EndsTaken::two_chips) {
        ends.root = chip("from");
        ends.to = chip("to");
        if (ends.root == ends.to) {
            throw sim::InputError("--from and --to name the same chip", "name two chips");
        }
    } else if (taken == EndsTaken::root) {
        ends.root = chip("root");
    }
    return ends;
}

constexpr std::string_view kDtypes[] = {"bf16", "fp32", "fp16", "fp8", "int8", "int32"};

std::string parse_dtype(const std::string& text) {
    for (const std::string_view dtype : kDtypes) {
        if (dtype == text) {
            return text;
        }
    }
    throw sim::unknown_name("dtype", printable(text), kDtypes);
}

std::vector<std::string> operation_names() {
    std::vector<std::string> names;
    for (const collectives::Operation operation : collectives::all_operations()) {
        names.emplace_back(collectives::to_string(operation));
    }
    return names;
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names;
    for (const collectives::AlgorithmInfo& info : collectives::all_algorithms()) {
        names.emplace_back(info.name);
    }
    return names;
}

/// Throws one error for all missing options: the chip, unless the slice's name has it; the group,
/// unless one chip sends to one.
void require_options(const Usage& options) {
    std::vector<std::string> names{"slice", "op", "bytes"};
    if (!options.has("slice") || !topology::is_slice_name(options.get("slice"))) {
        names.insert(names.begin(), "chip");
    }
    if (!options.has("op") || options.get("op") != "send") {
        names.insert(names.end() - 1, "axes");
    }
    options.require(names);
}

CollectiveRequest read_request(const Usage& options) {
    require_options(options);
    CollectiveRequest request;
    request.hardware = hardware_from_options({.chip = chip_option(options),
                                              .slice = options.get("slice"),
                                              .twisted = options.is_set("twisted"),
                                              .latency = options.get("latency"),
                                              .hbm = options.get("hbm")});
    request.operation = read_option(options, "op", [](const std::string& text) {
        return collectives::parse_operation(printable(text));
    });
    request.hardware.slices = read_slices(options, request.hardware);
    request.hardware.oversubscription = read_option(options, "oversubscription", parse_multiple);
    if (options.is_given("oversubscription") && request.hardware.slices == 1) {
        throw sim::InputError(
            "--oversubscription is of the network between slices: there is one slice",
            "--slices says how many there are");
    }
    if (request.operation != collectives::Operation::send) {
        request.members = read_option(options, "axes", [&](const std::string& text) {
            if (request.hardware.slices == 1 && text.find("slice") != std::string::npos) {
                throw sim::InputError("there is one slice", "--slices says how many there are");
            }
            collectives::Members members =
                parse_members(text, request.hardware.slice, request.hardware.slices);
            if (members.size() < 2) {
                throw sim::InputError("the group has a single member", "name axes longer than 1");
            }
            return members;
        });
    }
    request.ends = read_ends(options, request);
    return request;
}

void add_sizes_and_files(Usage& usage) {
    usage.value("bytes",
                "size of the array as it is complete in one group: 1e9, 64 MiB; or "
                "a range, one size per decade (1e3:1e10), more (1e3:1e10:3), or each a multiple of "
                "the one before (1KiB:64MiB:x2)");
    usage.value("dtype", "its element type; recorded only, bytes are bytes", "bf16");
    usage.offer("dtype", kDtypes);
    usage.value("latency", "additive or floor", "additive");
    usage.offer("latency", latency_rule_names());
    usage.value("hbm", "shared or private: whether messages wait for the chips' HBM", "shared");
    usage.offer("hbm", hbm_rule_names());
    usage.value("algorithm", "an algorithm of `podsim list algorithms`", "auto");
    usage.offer("algorithm", algorithm_names());
    add_fold_option(usage);
    usage.file("csv",
               "write the table of a range as CSV to a file, or alone to standard output (-)");
    usage.file("json",
               "write the result (of a range: an array) as JSON to a file, or alone to standard "
               "output (-)");
}

/// Returns a size to suggest for one with too many messages: it has half as many as a run may have,
/// since messages grow evenly with bytes. One significant digit, rounded down.
double cut_into_fewer(CollectiveRequest request, Fold fold, TimedWatch& watch) {
    constexpr double kSmaller = 1024;
    for (;;) {
        request.bytes = request.bytes / kSmaller;
        try {
            const double bytes = request.bytes.value();
            const auto of_one = static_cast<double>(count_messages(request, fold, &watch));
            request.bytes = request.bytes * 2;
            const auto of_two = static_cast<double>(count_messages(request, fold, &watch));
            const double most = bytes * (1 + (collectives::kMostMessages / 2 - of_one) /
                                                 std::max(of_two - of_one, 1.0));
            const double digit = std::pow(10, std::floor(std::log10(most)));
            return std::floor(most / digit) * digit;
        } catch (const collectives::TooManyMessages&) {
            continue;
        }
    }
}

CollectiveResult cut_and_simulated(const Usage& options, const CollectiveRequest& request,
                                   Fold fold, TimedWatch& watch) {
    try {
        return simulate_collective(request, fold, &watch);
    } catch (const collectives::TooManyMessages& error) {
        throw sim::InputError(
            fmt::format("{} are more than 20 million messages of up to {}",
                        format_bytes(request.bytes), format_bytes(request.hardware.message_cap)),
            fmt::format("{:.0e} are fewer", cut_into_fewer(request, fold, watch)),
            {"--bytes " + printable(options.get("bytes")), 0, 0});
    }
}

/// Destinations of the results: paths, `-` or empty.
struct Outputs {
    std::string json;
    std::string csv;
    std::string report;
};

Outputs read_outputs(const Usage& options) {
    Outputs outputs{output_path(options, "json"), csv_path(options), report_path(options)};
    if (outputs.csv == "-" && outputs.json == "-") {
        throw sim::InputError("--csv and --json both want standard output",
                              "give one of them a path");
    }
    return outputs;
}

void write_results(const CollectiveAnswer& answer, const Outputs& outputs, std::ostream& out) {
    const std::span<const CollectiveRun> runs = answer.runs;
    if (outputs.json != "-" && outputs.csv != "-") {
        out << shown(answer.range ? size_sweep_report(runs) : collective_report(runs.front()),
                     look_of(out));
    }
    if (outputs.csv == "-") {
        out << size_sweep_csv(runs);
    } else if (!outputs.csv.empty()) {
        write_file("--csv", outputs.csv, size_sweep_csv(runs));
    }
    if (!outputs.json.empty()) {
        write_json(answer_json(answer), outputs.json, out);
    }
    if (!outputs.report.empty()) {
        write_report(collective_page(runs, answer_json(answer)), outputs.report);
    }
}

}  // namespace

Usage collective_usage() {
    Usage usage(
        "collective --chip v5p --slice 16x20x28 [--twisted] --op all-gather --axes xyz\n"
        "       --bytes 1e9|1e3:1e10[:POINTS|:xFACTOR] [--shift N] [--root X,Y,Z]\n"
        "       [--from X,Y,Z --to X,Y,Z] [--dtype bf16] [--latency additive|floor]\n"
        "       [--hbm shared|private]\n"
        "       [--algorithm NAME] [--fold auto|off] [--slices N [--oversubscription O]]\n"
        "       [--csv PATH|-] [--json PATH|-] [--report PATH]",
        "Simulates one collective hop by hop and sets it beside the algorithm's closed form,\n"
        "the reference text's estimate and the physical bound; says which links limit it and\n"
        "itemises what keeps it from the bound. A range of sizes makes a table instead.",
        "podsim collective --chip v5p --slice 16x20x28 --op all-gather --axes xyz --bytes 1e9",
        "Terms of the gap, which add up exactly (zeros are left out):\n"
        "  launch       what the run would save without launch cost\n"
        "  latency      what it would save besides with links of zero latency\n"
        "  uneven load  at zero latency, the busiest link's busy time beyond the bound\n"
        "  idle         at zero latency, the time in which that link waits for earlier steps\n"
        "  HBM          at zero latency, what the run would save with an HBM that is never waited "
        "for\n"
        "Regimes, by the share of launch and latency in the time: latency-bound from 50 %,\n"
        "bandwidth-bound below 10 %.\n"
        "Bandwidths follow nccl-tests, which counts S bytes, the buffer of one rank: the whole\n"
        "array, but for all-to-all and permute its n-th part. Algorithm bandwidth is S / time, "
        "bus\n"
        "bandwidth that times (n-1)/n, for all-reduce 2(n-1)/n, for permute, send and broadcast "
        "1.\n");
    add_chip_option(usage);
    usage.value("slice", "chips along each axis, as in 16x20x28, or a name such as v5p-512");
    usage.flag("twisted", "a twisted torus (k x k x 2k, k x 2k x 2k)");
    usage.value(
        "op",
        "all-gather, reduce-scatter, all-reduce, all-to-all, permute, send, broadcast, gather "
        "or scatter");
    usage.offer("op", operation_names());
    usage.value("axes",
                "the group: whole axes run together (xyz), or factors (\"x%4 y\"); `slice` is "
                "the axis across slices (\"xyz slice\"); a send has none");
    usage.value("slices", "number of slices, joined by the data-centre network", "1");
    usage.value("oversubscription", "of that network: a host's share is its rate divided by this",
                "1");
    usage.value("shift", "of a permute: to the member that many further; 1 when left out");
    usage.value("root",
                "the chip from which a broadcast or scatter goes, to which a gather; every group "
                "does so from its member at that place");
    usage.value("from", "the chip that sends");
    usage.value("to", "the chip that a send is for");
    add_sizes_and_files(usage);
    add_report_option(usage);
    return usage;
}

std::string csv_path(const Usage& options) {
    std::string path = output_path(options, "csv");
    if (!path.empty() && !is_range(options.get("bytes"))) {
        throw sim::InputError("--csv is for a range of sizes",
                              "give --bytes a range such as 1e3:1e10");
    }
    return path;
}

CollectiveAnswer answer_collective(const Usage& options, TimedWatch& watch) {
    CollectiveRequest request = read_request(options);
    const std::vector<sim::Bytes> sizes = read_option(options, "bytes", parse_sizes);
    request.algorithm = read_option(options, "algorithm", [](const std::string& text) {
        return collectives::parse_algorithm(printable(text));
    });
    const std::string dtype = read_option(options, "dtype", parse_dtype);
    const Fold fold = parse_fold(options.get("fold"));

    CollectiveAnswer answer{.runs = {}, .range = is_range(options.get("bytes"))};
    watch.begin();
    for (const sim::Bytes bytes : sizes) {
        request.bytes = bytes;
        const double before = watch.seconds();
        answer.runs.push_back({request, options.has("axes") ? options.get("axes") : "", dtype,
                               cut_and_simulated(options, request, fold, watch), 0});
        answer.runs.back().wall_time_s = watch.seconds() - before;
    }
    return answer;
}

Json answer_json(const CollectiveAnswer& answer) {
    Json array = Json::array();
    for (const CollectiveRun& run : answer.runs) {
        array.push_back(collective_json(run));
    }
    return answer.range ? array : array.front();
}

int command_collective(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = collective_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const Outputs outputs = read_outputs(options);
    const CollectiveAnswer answer = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return answer_collective(options, watch);
    }();
    write_results(answer, outputs, out);
    return kDone;
}

}  // namespace podsim::scenarios
