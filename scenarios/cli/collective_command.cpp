// `podsim collective`: one collective on an otherwise idle slice, of one size or of many.
#include <ostream>
#include <span>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/commands/answer_collective.h"
#include "scenarios/commands/report_option.h"
#include "scenarios/console/look.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/page/collective_page.h"
#include "scenarios/report/collective_json.h"
#include "scenarios/report/collective_report.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Where the results go: paths, `-` or empty.
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
