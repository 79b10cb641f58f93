// `podsim check`: checks scenarios without running them.
#include <ostream>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/cli/check.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/exit_status.h"
#include "scenarios/src/cli/guide.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"

namespace podsim::scenarios {

Usage check_usage() {
    Usage usage(
        "check FILE|DIR ... [--set key=value]... [--fail-if-not-fit] [--json PATH|-]",
        "Says what is wrong with scenarios, how many events their runs have, and whether "
        "they fit in memory,\nwithout running them.",
        "podsim check scenarios/quickstart",
        "Events are those of the run, exactly; evaluation steps are not counted. Memory is "
        "that of operations in\nprogram order: a run may hold a little more or less. The "
        "time is a rough bound: repeated layers are played\nonce. "
        "The memory is podsim's own for the run without its explanation: an upper estimate, "
        "from which `run` refuses\nwhat --memory does not allow.\n");
    usage.settings("set", "override one value of each scenario; may be repeated");
    usage.flag("fail-if-not-fit", "exit status 4 where a step does not fit");
    usage.file("json", "write it as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE|DIR", -1);
    return usage;
}

int command_check(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = check_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const std::vector<ScenarioSource> named = scenario_arguments(options);
    if (named.empty()) {
        throw sim::InputError("no scenario", "usage: podsim check FILE|DIR ...");
    }
    const std::string json = output_path(options, "json");
    const std::vector<ScenarioSource> files = files_to_check(named);
    refuse_lost_inputs(options, files);
    std::vector<Checked> checked;
    bool right = true;
    for (const ScenarioSource& source : files) {
        checked.push_back(check(source, options.all("set")));
        for (const sim::InputError& error : checked.back().errors) {
            err << one_line(error.what()) << '\n';
            right = false;
        }
    }
    if (json != "-") {
        out << check_text(checked);
    }
    if (!json.empty()) {
        write_json(check_json(checked), json, out);
    }
    return !right                                                ? kBadInput
           : options.is_set("fail-if-not-fit") && !fits(checked) ? kDoesNotFit
                                                                 : kDone;
}

}  // namespace podsim::scenarios
