// `podsim help`: a key of scenarios, a command, or the JSON Schema.
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <vector>

#include "scenarios/cli/cli.h"
#include "scenarios/cli/common.h"
#include "scenarios/describe/key_help.h"
#include "scenarios/describe/scenario_schema.h"
#include "scenarios/manual/completion.h"
#include "scenarios/manual/man_page.h"
#include "scenarios/text/quote.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Each is an answer of its own.
void refuse_two_questions(const Usage& options) {
    std::vector<std::string> asked = options.all("KEY|COMMAND");
    for (const char* const flag : {"schema", "man"}) {
        if (options.is_set(flag)) {
            asked.push_back(fmt::format("--{}", flag));
        }
    }
    if (options.has("completion")) {
        asked.emplace_back("--completion");
    }
    if (asked.size() > 1) {
        throw sim::InputError(
            fmt::format("{} and {} are two questions", printable(asked[0]), asked[1]),
            "ask one at a time");
    }
}

}  // namespace

Usage help_usage() {
    Usage usage("help [KEY|COMMAND] [--schema] [--man] [--completion bash|zsh|fish]",
                "Says what a key of a scenario means: its values, its default, an example; or how "
                "a command is used.",
                "podsim help training.remat",
                "Completion in bash takes one line of ~/.bashrc:\n"
                "  source <(podsim help --completion bash)\n");
    usage.flag("schema", "print the JSON Schema of scenarios, for editors that complete and check");
    usage.flag("man", "print the manual page podsim(1), for man -l");
    usage.value("completion", "print a script that completes command lines, for that shell");
    usage.offer("completion", completed_shells());
    usage.positional("KEY|COMMAND", 1);
    std::vector<std::string> names;
    for (const Command& command : all_commands()) {
        names.emplace_back(command.name);
    }
    for (std::string& key : written_out_keys()) {
        names.push_back(std::move(key));
    }
    usage.offer("KEY|COMMAND", names);
    return usage;
}

int command_help(Arguments args, std::ostream& out, std::ostream& err) {
    Usage options = help_usage();
    options.parse(args);
    if (options.wants_help()) {
        out << options.help(look_of(out).width);
        return kDone;
    }
    refuse_two_questions(options);
    if (options.is_set("schema")) {
        out << json_text(scenario_schema(), 2) << '\n';
        return kDone;
    }
    if (options.is_set("man")) {
        out << man_page(manual());
        return kDone;
    }
    if (options.has("completion")) {
        const std::string shell = printable(options.get("completion"));
        out << completion_script(shell, manual());
        return kDone;
    }
    const std::vector<std::string> names = options.all("KEY|COMMAND");
    const std::vector<std::string> ask{"--help"};
    if (names.empty()) {
        return run_command(ask, out, err);
    }
    std::vector<std::string_view> commands;
    for (const Command& command : all_commands()) {
        if (command.name == names.front()) {
            return command.run(ask, out, err);
        }
        commands.push_back(command.name);
    }
    out << key_help(names.front(), commands);
    return kDone;
}

}  // namespace podsim::scenarios
