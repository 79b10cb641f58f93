#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/cli/completion.h"

namespace podsim::scenarios {
namespace {

/// Quotes a text for fish.
std::string fish_quoted(std::string_view text) {
    std::string escaped = "'";
    for (const char c : text) {
        escaped += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return escaped + '\'';
}

/// Returns the completion of an option's value or of an argument, as options of `complete`.
std::string fish_action(const DescribedOption& option) {
    const std::string words = fmt::format("{}", fmt::join(option.offered, " "));
    switch (option.takes) {
        case Takes::nothing:
            return "";
        case Takes::file:
            return " -r -F";
        case Takes::settings:
            return " -x -a '(__podsim_keys)'";
        case Takes::parts:
            return fmt::format(" -x -a {}",
                               fish_quoted(fmt::format("(__fish_append , {})", words)));
        case Takes::text:
            return option.offered.empty() ? " -x" : fmt::format(" -x -a {}", fish_quoted(words));
    }
    return "";
}

std::string fish_arguments(const std::string& when, const DescribedOption& arguments) {
    if (arguments.takes == Takes::nothing) {
        return "";
    }
    std::string lines;
    if (!arguments.offered.empty()) {
        lines += fmt::format("{} -a {}\n", when,
                             fish_quoted(fmt::format("{}", fmt::join(arguments.offered, " "))));
    }
    return lines +
           (arguments.offered.empty() || arguments.most != 1 ? fmt::format("{} -F\n", when) : "");
}

}  // namespace

std::string fish_completion(const Manual& manual) {
    std::string names;
    for (const auto& [key, values] : names_under_keys()) {
        names += fmt::format("        case '{}=*'\n            printf '%s\\n' $before{{{}}}\n", key,
                             fmt::join(values, ","));
    }
    std::string text = fmt::format(
        "# Completion of podsim for fish: podsim help --completion fish | source\n"
        "function __podsim_keys\n"
        "    set -l token (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))\n"
        "    set -l before (string match -r '.*[=,]' -- $token)\n"
        "    switch $token\n{}"
        "        case '*=*'\n"
        "        case '*'\n"
        "            printf '%s=\\n' {}\n"
        "    end\n"
        "end\n"
        "complete -c podsim -f\n",
        names, fmt::join(written_out_keys(), " "));
    for (const GeneralOption& option : manual.options) {
        text += fmt::format("complete -c podsim -n __fish_use_subcommand -s {} -l {} -d {}\n",
                            option.letter, option.name, fish_quoted(option.meaning));
    }
    for (const DescribedCommand& command : manual.commands) {
        text += fmt::format("complete -c podsim -n __fish_use_subcommand -a {} -d {}\n",
                            command.name, fish_quoted(command.summary));
    }
    for (const DescribedCommand& command : manual.commands) {
        const std::string when =
            fmt::format("complete -c podsim -n '__fish_seen_subcommand_from {}'", command.name);
        for (const DescribedOption& option : command.usage.described()) {
            const std::string letter =
                option.letter == 0 ? "" : fmt::format(" -s {}", option.letter);
            text += fmt::format("{}{} -l {}{} -d {}\n", when, letter, option.name,
                                fish_action(option), fish_quoted(option.meaning));
        }
        text += fish_arguments(when, command.usage.arguments());
    }
    return text;
}

}  // namespace podsim::scenarios
