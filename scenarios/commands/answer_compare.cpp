#include "scenarios/commands/answer_compare.h"

#include <utility>

#include "scenarios/commands/common_options.h"
#include "scenarios/commands/lost_inputs.h"
#include "scenarios/commands/report_option.h"
#include "scenarios/console/timed_watch.h"
#include "scenarios/load/load.h"
#include "scenarios/load/scenario_files.h"
#include "scenarios/ranks/parallel.h"

namespace podsim::scenarios {

Usage compare_usage() {
    Usage usage(
        "compare FILE|DIR ... [--jobs N] [--json PATH|-] [--report PATH]",
        "Simulates scenarios and prints a line for each: the simulated step time, the\n"
        "analytic estimates, the ratios simulated / estimate, and the references that the\n"
        "scenario states. Of serving the time is the median between tokens, or to the first of\n"
        "answers of one. A folder stands for all *.yaml files in it and below.\n"
        "Of a reference, analytic is the formula's value, or the roofline_lower of a step_time;\n"
        "the reason is the formula's rounding, of one collective every part of the gap to the\n"
        "reference text's time (from book), else the largest parts of the gap to roofline_lower.\n"
        "What holds but is more than 5 % off, or takes more than four fifths of a tolerance above\n"
        "5 %, differs, for the reason that the scenario gives.",
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

}  // namespace podsim::scenarios
