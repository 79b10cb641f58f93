// `podsim serve`: requests on servers of simulated inference steps.
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/console/output.h"
#include "scenarios/load/load.h"
#include "scenarios/serve_report/serving_json.h"
#include "scenarios/serve_report/serving_quantities.h"
#include "scenarios/serve_report/serving_text.h"
#include "scenarios/study/serve_scenario.h"
#include "scenarios/study/within_clock.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

Usage usage() {
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
        "kept in, and serving: podsim run --help lists their keys.\n");
    usage.values("set", "override one value of the scenario; may be repeated");
    usage.flag("requests", "with --json: the times of every request");
    usage.value("json", "write the result as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE.yaml", 1);
    return usage;
}

}  // namespace

int command_serve(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    const std::vector<std::string> files = options.all("FILE.yaml");
    if (files.empty()) {
        throw sim::InputError("no scenario file", "usage: podsim serve FILE.yaml");
    }
    const std::string json = output_path(options, "json");
    if (options.is_set("requests") && json.empty()) {
        throw sim::InputError("--requests adds to the JSON", "write --json with it");
    }
    const Scenario scenario = load_scenario(files.front(), options.all("set"), Requests::some);
    const ServingRun run = within_clock(scenario.file, [&] { return serve_scenario(scenario); });
    const std::vector<Verdict> verdicts = judge(scenario, run.summary);
    if (json != "-") {
        out << serving_text(run, verdicts);
    }
    if (!json.empty()) {
        write_json(serving_json(run, verdicts, options.is_set("requests")), json, out);
    }
    return all_hold(verdicts) ? kDone : kExpectationFails;
}

}  // namespace podsim::scenarios
