// `podsim help`: a key of scenarios, a term, a command, or the JSON Schema.
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <vector>

#include "scenarios/src/base/glossary.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/cli/cli.h"
#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/completion.h"
#include "scenarios/src/cli/man_page.h"
#include "scenarios/src/scenario/key_help.h"
#include "scenarios/src/scenario/scenario_schema.h"
#include "scenarios/src/scenario/schema.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Throws sim::InputError for two questions: each has an answer of its own.
void refuse_two_questions(const Usage& options) {
    std::vector<std::string> asked = options.all("KEY|TERM|COMMAND");
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
    Usage usage("help [KEY|TERM|COMMAND] [--schema] [--man] [--completion bash|zsh|fish]",
                "Says what a key of a scenario means: its values, its default, an example; what a "
                "term of the field means; or how a command is used; `keys`: all keys.",
                "podsim help training.remat",
                "Completion in bash takes one line of ~/.bashrc:\n"
                "  source <(podsim help --completion bash)\n");
    usage.flag("schema", "print the JSON Schema of scenarios, for editors that complete and check");
    usage.flag("man", "print the manual page podsim(1), for man -l");
    usage.value("completion", "print a script that completes command lines, for that shell");
    usage.offer("completion", completed_shells());
    usage.positional("KEY|TERM|COMMAND", 1);
    std::vector<std::string> names{"keys"};
    for (const Command& command : all_commands()) {
        names.emplace_back(command.name);
    }
    for (std::string& key : written_out_keys()) {
        names.push_back(std::move(key));
    }
    for (const Term& term : glossary()) {
        names.emplace_back(term.name);
    }
    usage.offer("KEY|TERM|COMMAND", names);
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
    const std::vector<std::string> names = options.all("KEY|TERM|COMMAND");
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
    for (const Term& each : glossary()) {
        commands.push_back(each.name);
    }
    if (names.front() == "keys") {
        out << schema_help();
        return kDone;
    }
    const Term* const term = find_term(names.front());
    if (term != nullptr) {
        out << term->name << "\n  " << term->meaning << '\n';
    }
    if (term == nullptr || names_key(names.front())) {
        out << (term == nullptr ? "" : "\n") << key_help(names.front(), commands);
    }
    return kDone;
}

}  // namespace podsim::scenarios
