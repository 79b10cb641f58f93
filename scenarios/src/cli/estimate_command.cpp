// `podsim estimate`: the closed forms alone.
#include <ostream>

#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/estimate.h"
#include "scenarios/src/cli/exit_status.h"
#include "scenarios/src/cli/guide.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/scenario/load.h"

namespace podsim::scenarios {

Usage estimate_usage() {
    Usage usage("estimate FILE.yaml [--set key=value]... [--json PATH|-]",
                "Gives the closed forms of a step at ideal rates, and its memory, without "
                "simulating it.",
                "podsim estimate scenarios/quickstart/llama3-70b-v5p-pod.yaml");
    usage.settings("set", "override one value of the scenario; may be repeated");
    usage.file("json", "write it as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE.yaml", 1);
    return usage;
}

Scenario estimated_scenario(const Usage& options, const ScenarioSource& source) {
    Scenario scenario = load_scenario(source, options.all("set"));
    if (scenario.is_program()) {
        throw sim::InputError("a program has no closed forms of a step",
                              "use podsim run, whose report has its bound", {source.file, 0, 0});
    }
    return scenario;
}

int command_estimate(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = estimate_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const ScenarioSource source = scenario_argument(options, "estimate");
    const std::string json = output_path(options, "json");
    refuse_lost_inputs(options, {&source, 1});
    const Scenario scenario = estimated_scenario(options, source);
    const StepEstimate estimate = estimate_step(scenario);
    if (json != "-") {
        out << estimate_text(scenario, estimate);
    }
    if (!json.empty()) {
        write_json(estimate_json(scenario, estimate), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
