#include "scenarios/commands/answer_serve.h"

#include <utility>

#include "scenarios/commands/lost_inputs.h"
#include "scenarios/load/load.h"
#include "scenarios/serve_report/serving_json.h"
#include "scenarios/serve_report/serving_quantities.h"
#include "scenarios/simulate/within_clock.h"
#include "scenarios/study/serve_scenario.h"

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
        "kept in, and serving: podsim run --help lists their keys.\n");
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

}  // namespace podsim::scenarios
