// `podsim compare`: a line a scenario, simulated against analytic and reference values; `podsim diff`: two steps side by side.
#include <algorithm>
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/commands/answer_compare.h"
#include "scenarios/commands/answer_diff.h"
#include "scenarios/commands/common_options.h"
#include "scenarios/commands/report_option.h"
#include "scenarios/console/look.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/difference/difference_report.h"
#include "scenarios/page/compare_page.h"
#include "scenarios/profile/changed_chip.h"
#include "scenarios/study/compare_table.h"

namespace podsim::scenarios {

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

int command_diff(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = diff_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::string json = output_path(options, "json");
    const StepDifference difference = [&] {
        TerminalWatch watch(err, on_terminal(err));
        return answer_diff(options, watch);
    }();
    print_warnings(err, difference.a.warnings, "A");
    print_warnings(err, difference.b.warnings, "B");
    if (json != "-") {
        out << shown(difference_text(difference, options.is_set("verbose")), look_of(out));
    }
    if (!json.empty()) {
        write_json(difference_json(difference), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
