// `podsim run`: one training step.
#include <fmt/format.h>
#include <ostream>

#include "scenarios/advice/advice.h"
#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/commands/answer_run.h"
#include "scenarios/commands/common_options.h"
#include "scenarios/commands/report_option.h"
#include "scenarios/commands/run_report.h"
#include "scenarios/console/look.h"
#include "scenarios/console/output.h"
#include "scenarios/console/terminal_watch.h"
#include "scenarios/profile/changed_chip.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
int command_run(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = run_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const ScenarioSource source = scenario_argument(options, "run");
    const std::string json = output_path(options, "json");
    const std::string trace = trace_path(options);
    const std::string report = report_path(options);
    int stopped = kDone;
    const RunAnswer answer = [&] {
        TerminalWatch watch(err, on_terminal(err));
        RunAnswer reached = answer_run(options, source, watch);
        stopped = reached.stopped_before.empty() ? kDone : watch.stop_status();
        return reached;
    }();
    if (const auto* const step = std::get_if<StepResult>(&answer.result)) {
        print_warnings(err, warnings(answer.scenario, *step));
    } else {
        print_warnings(err, profile_warnings(answer.scenario.hardware));
    }
    if (!answer.no_memory_for.empty()) {
        err << "podsim: warning: left out for lack of memory: " << answer.no_memory_for << '\n';
    }
    if (json != "-") {
        out << shown(answer_text(answer, options), look_of(out));
    }
    if (!json.empty()) {
        write_json(answer_json(answer), json, out);
    }
    write_trace(answer, trace, trace_detail(options));
    write_run_report(answer, options, source, report);
    if (stopped != kDone) {
        err << fmt::format("podsim run: stopped; the step stands without {}{}\n",
                           answer.stopped_before,
                           (trace.empty() && report.empty()) || has_trail(answer)
                               ? ""
                               : ", and has no timeline or page");
        return stopped;
    }
    const auto* const step = std::get_if<StepResult>(&answer.result);
    if (options.is_set("fail-if-not-fit") && step != nullptr &&
        fit_of(step->memory) == MemoryFit::does_not_fit) {
        return kDoesNotFit;
    }
    return all_hold(answer.verdicts) ? kDone : kExpectationFails;
}

}  // namespace podsim::scenarios
