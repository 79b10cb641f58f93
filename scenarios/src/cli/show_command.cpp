// `podsim show`: a scenario with every default filled in.
#include <ostream>

#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/cli/exit_status.h"
#include "scenarios/src/cli/guide.h"
#include "scenarios/src/cli/look.h"
#include "scenarios/src/cli/lost_inputs.h"
#include "scenarios/src/cli/output.h"
#include "scenarios/src/scenario/shown_scenario.h"

namespace podsim::scenarios {

Usage show_usage() {
    Usage usage("show FILE.yaml [--set key=value]... [--json PATH|-]",
                "Prints a scenario with every default filled in, and beside each value where it "
                "comes from: the file\n"
                "and line, --set, a default, a catalogue, a rule. It is a scenario that runs to "
                "the same step.",
                "podsim show scenarios/quickstart/llama3-70b-v5p-pod.yaml",
                "Comments beneath a name (of a chip, a model, a profile) say what it stands for. "
                "Files are named by their\nfull path.\n");
    usage.settings("set", "override one value of the scenario, as in podsim run; may be repeated");
    usage.file("json", "write it as JSON to a file, or alone to standard output (-)");
    usage.positional("FILE.yaml", 1);
    return usage;
}

int command_show(Arguments args, std::ostream& out, std::ostream& /*err*/) {
    Usage options = show_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    const ScenarioSource source = scenario_argument(options, "show");
    const std::string json = output_path(options, "json");
    refuse_lost_inputs(options, {&source, 1});
    const ShownScenario shown = show_scenario(source, options.all("set"));
    if (json != "-") {
        out << shown.text;
    }
    if (!json.empty()) {
        write_json(shown_json(shown), json, out);
    }
    return kDone;
}

}  // namespace podsim::scenarios
