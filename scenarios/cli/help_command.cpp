// `podsim help`: a key of scenarios, a command, or the JSON Schema.
#include <ostream>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/describe/key_help.h"
#include "scenarios/describe/scenario_schema.h"

namespace podsim::scenarios {
namespace {

Usage help_usage() {
    Usage usage("help [KEY|COMMAND] [--schema]",
                "Says what a key of a scenario means: its values, its default, an example; or how "
                "a command is used.",
                "podsim help training.remat");
    usage.flag("schema", "print the JSON Schema of scenarios, for editors that complete and check");
    usage.positional("KEY|COMMAND", 1);
    return usage;
}

}  // namespace

int command_help(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = help_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help();
        return kDone;
    }
    if (options.is_set("schema")) {
        out << json_text(scenario_schema(), 2) << '\n';
        return kDone;
    }
    const std::vector<std::string> names = options.all("KEY|COMMAND");
    const std::vector<std::string> ask{"--help"};
    if (names.empty()) {
        return run_command(ask, out, err);
    }
    for (const Command& command : all_commands()) {
        if (command.name == names.front()) {
            return command.run(ask, out, err);
        }
    }
    out << key_help(names.front());
    return kDone;
}

}  // namespace podsim::scenarios
