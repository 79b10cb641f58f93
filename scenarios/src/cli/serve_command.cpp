#include "scenarios/src/cli/serve_command.h"

#include <ostream>
#include <utility>

#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/serve/serve_scenario.h"
#include "scenarios/src/serve/serving_json.h"
#include "scenarios/src/serve/serving_quantities.h"
#include "scenarios/src/serve/serving_text.h"
#include "scenarios/src/simulate/within_clock.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

Usage serve_usage() {
    Usage usage(
        "serve FILE.yaml [--set key=value]... [--requests] [--json PATH|-]",
        "Serves the requests of a scenario on its simulated chips, and reports latencies, rates "
        "and "
        "queues.\n"
        "Every step of the servers is simulated, on a grid of batches and contexts or exactly.",
        "podsim serve scenarios/examples/serve-llama3-8b-v5e.yaml --set 'serving.rate=8 "
        "requests/s'",
        "The scenario has model, hardware and mesh as those of podsim run, inference for what "
        "weights "
        "and cache are\n"
        "kept in, and serving: podsim help serving lists their keys.\n");
    usage.settings("set", "override one value of the scenario; may be repeated");
    usage.flag("requests", "with --json: the times of every request");
    usage.file("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE.yaml", 1);
    return usage;
}

ServeAnswer answer_serve(const Usage& options, const ScenarioSource& source, Watch* watch) {
    refuse_lost_inputs(options, {&source, 1});
    const Scenario scenario = load_scenario(source, options.all("set"), Requests::some);
    ServingRun run = within_clock(scenario, [&] { return serve_scenario(scenario, watch); });
    std::vector<Verdict> verdicts = judge(scenario, run.summary);
    return {.run = std::move(run), .verdicts = std::move(verdicts)};
}

Json answer_json(const Usage& options, const ServeAnswer& answer) {
    return serving_json(answer.run, answer.verdicts, options.is_set("requests"));
}

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
