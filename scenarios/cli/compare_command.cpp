// `podsim compare`: a line a scenario, simulated against analytic and reference values.
#include <algorithm>
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/load/load.h"
#include "scenarios/load/scenario_files.h"
#include "scenarios/study/compare_table.h"
#include "scenarios/study/parallel.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

Usage usage() {
    Usage usage(
        "compare FILE|DIR ... [--jobs N] [--json PATH|-]",
        "Simulates scenarios and prints a line for each: the simulated step time, the\n"
        "analytic estimates, the ratios simulated / estimate, and the references that the\n"
        "scenario states. A folder stands for all *.yaml files in it and below.\n"
        "Of a reference, analytic is the formula's value, or the roofline_lower of a step_time;\n"
        "the reason is the formula's rounding, of one collective every part of the gap to the\n"
        "reference text's time (from book), else the largest parts of the gap to roofline_lower.\n"
        "What holds but is more than 5 % off, or takes more than four fifths of a tolerance above\n"
        "5 %, differs, for the reason that the scenario gives.",
        "podsim compare scenarios/examples");
    usage.value("jobs", "threads; the cores of this machine without it");
    usage.value("json", "write the results as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE|DIR", -1);
    return usage;
}

}  // namespace

int command_compare(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    const std::vector<std::string> files = files_of(options.all("FILE|DIR"));
    if (files.empty()) {
        throw sim::InputError("no scenario", "usage: podsim compare FILE|DIR ...");
    }
    const int jobs = parse_jobs(options);
    const std::string json = output_path(options, "json");

    // All files are read before the first runs: bad input shows at once.
    const std::vector<Scenario> scenarios = load_scenarios(files);
    std::vector<Comparison> rows;
    run_in_order(
        0, scenarios.size(), jobs,
        [&](std::size_t i) {
            const Stopwatch watch;
            Comparison row = compare(scenarios[i]);
            row.wall.simulated_s = watch.seconds();
            return row;
        },
        [&](std::size_t, Comparison row) { rows.push_back(std::move(row)); }, [] { return false; });
    if (json != "-") {
        out << compare_report(rows);
    }
    if (!json.empty()) {
        write_json(compare_json(rows), json, out);
    }
    return std::ranges::all_of(rows, [](const Comparison& row) { return all_hold(row.verdicts); })
               ? kDone
               : kExpectationFails;
}

}  // namespace podsim::scenarios
