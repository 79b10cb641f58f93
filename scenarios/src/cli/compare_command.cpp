#include "scenarios/src/cli/compare_command.h"

#include <algorithm>
#include <ostream>
#include <utility>

#include "scenarios/src/base/parallel.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/cli/report_option.h"
#include "scenarios/src/cli/terminal_watch.h"
#include "scenarios/src/cli/timed_watch.h"
#include "scenarios/src/scenario/changed_chip.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "scenarios/src/study/compare_page.h"
#include "scenarios/src/study/compare_table.h"

namespace podsim::scenarios {

Usage compare_usage() {
    Usage usage(
        "compare FILE|DIR ... [--jobs N] [--json PATH|-] [--report PATH]",
        "Simulates scenarios and prints a line for each: the simulated step time, the\n"
        "analytic estimates, the ratios simulated / estimate, and the references that the\n"
        "scenario states. The time of serving is the median between tokens, or to the first of\n"
        "answers of one. A folder stands for all *.yaml files in it and below.\n"
        "The analytic value of a reference is the formula's, or the roofline_lower of a "
        "step_time;\n"
        "the reason is the formula's rounding, of one collective every part of the gap to the\n"
        "reference text's time (from book), else the largest parts of the gap to roofline_lower.\n"
        "A value that holds but is more than 5 % off, or takes more than four fifths of a "
        "tolerance\n"
        "above 5 %, differs, for the reason that the scenario gives.",
        "podsim compare scenarios/examples");
    usage.value("jobs", "threads; the cores of this machine without it");
    usage.file("json", "write the results as JSON to a file, or alone to standard output (-)");
    add_report_option(usage);
    usage.positional("FILE|DIR", -1);
    return usage;
}

std::vector<Comparison> answer_compare(const Usage& options, std::span<const ScenarioSource> named,
                                       Watch* watch) {
    const std::vector<ScenarioSource> files = files_of(named);
    if (files.empty()) {
        throw sim::InputError("no scenario", "usage: podsim compare FILE|DIR ...");
    }
    refuse_lost_inputs(options, files);
    const int jobs = parse_jobs(options);
    const std::vector<Scenario> scenarios = load_scenarios(files);
    std::vector<Comparison> rows;
    QuietWatch pieces(watch);
    run_in_order(
        0, scenarios.size(), jobs,
        [&](std::size_t i) {
            const Stopwatch stopwatch;
            Comparison row = compare(scenarios[i], &pieces);
            row.wall.simulated_s = stopwatch.seconds();
            return row;
        },
        [&](std::size_t i, Comparison row) {
            rows.push_back(std::move(row));
            tell(watch, Phase::comparing,
                 static_cast<double>(i + 1) / static_cast<double>(scenarios.size()));
        },
        [] { return false; });
    return rows;
}

int command_compare(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = compare_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::vector<ScenarioSource> named = scenario_arguments(options);
    const std::string json = output_path(options, "json");
    const std::string report = report_path(options);
    const std::vector<Comparison> rows = answer_compare(options, named);
    for (const Comparison& row : rows) {
        print_warnings(err, profile_warnings(row.scenario.hardware), row.scenario.name);
    }
    if (json != "-") {
        out << shown(compare_report(rows), look_of(out));
    }
    if (!json.empty()) {
        write_json(compare_json(rows), json, out);
    }
    if (!report.empty()) {
        write_report(compare_page(rows, compare_json(rows)), report);
    }
    return std::ranges::all_of(rows, [](const Comparison& row) { return all_hold(row.verdicts); })
               ? kDone
               : kExpectationFails;
}

}  // namespace podsim::scenarios
