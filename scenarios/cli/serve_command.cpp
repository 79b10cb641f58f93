// `podsim serve`: requests on servers of simulated inference steps.
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/commands/answer_serve.h"
#include "scenarios/commands/common_options.h"
#include "scenarios/console/look.h"
#include "scenarios/console/output.h"
#include "scenarios/serve_report/serving_text.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

int command_serve(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = serve_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const ScenarioSource source = scenario_argument(options, "serve");
    const std::string json = output_path(options, "json");
    if (options.is_set("requests") && json.empty()) {
        throw sim::InputError("--requests adds to the JSON", "write --json with it");
    }
    const ServeAnswer answer = answer_serve(options, source);
    print_warnings(err, answer.run.warnings);
    if (json != "-") {
        out << shown(serving_text(answer.run, answer.verdicts), look_of(out));
    }
    if (!json.empty()) {
        write_json(answer_json(options, answer), json, out);
    }
    return all_hold(answer.verdicts) ? kDone : kExpectationFails;
}

}  // namespace podsim::scenarios
