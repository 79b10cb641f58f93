#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/cli/completion.h"

namespace podsim::scenarios {
namespace {

/// Quotes a text for '...', and escapes the characters that `_arguments` and `_describe` interpret.
std::string zsh_quoted(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\'') {
            escaped += "'\\''";
        } else if (c == ':' || c == '[' || c == ']' || c == '\\') {
            escaped += std::string("\\") + c;
        } else {
            escaped += c;
        }
    }
    return escaped;
}

/// Returns `:message:action` for an option's value or an argument.
std::string zsh_action(const DescribedOption& option) {
    const std::string words = fmt::format("{}", fmt::join(option.offered, " "));
    switch (option.takes) {
        case Takes::nothing:
            return "";
        case Takes::file:
            return ":path:_files";
        case Takes::settings:
            return ":key=value:_podsim_keys";
        case Takes::parts:
            return fmt::format(":names:_values -s , name {}", words);
        case Takes::text:
            return option.offered.empty() ? ":value:" : fmt::format(":value:({})", words);
    }
    return "";
}

std::string zsh_spec(const DescribedOption& option) {
    const std::string meaning = fmt::format("[{}]", zsh_quoted(option.meaning));
    const std::string assigned = option.takes == Takes::nothing ? "" : "=";
    std::string specs;
    if (option.letter != 0) {
        specs += fmt::format(" \\\n      '-{}{}'", option.letter, meaning);
    }
    return specs + fmt::format(" \\\n      '{}--{}{}{}{}'", option.most == 1 ? "" : "*",
                               option.name, assigned, meaning, zsh_action(option));
}

std::string zsh_arguments(const DescribedOption& arguments) {
    if (arguments.takes == Takes::nothing) {
        return "";
    }
    if (arguments.offered.empty()) {
        return fmt::format(" \\\n      '*{}'", zsh_action(arguments));
    }
    return fmt::format(" \\\n      '1{}'", zsh_action(arguments)) +
           (arguments.most == 1 ? "" : " \\\n      '*:path:_files'");
}

}  // namespace

std::string zsh_completion(const Manual& manual) {
    std::string names;
    for (const auto& [key, values] : names_under_keys()) {
        names += fmt::format("      {}) compadd -- {} ;;\n", key, fmt::join(values, " "));
    }
    std::string commands;
    std::string cases;
    for (const DescribedCommand& command : manual.commands) {
        commands += fmt::format("    '{}:{}'\n", command.name, zsh_quoted(command.summary));
        cases += fmt::format("    {})\n      _arguments", command.name);
        for (const DescribedOption& option : command.usage.described()) {
            cases += zsh_spec(option);
        }
        cases += zsh_arguments(command.usage.arguments()) + " ;;\n";
    }
    for (const GeneralOption& option : manual.options) {
        commands += fmt::format("    '--{}:{}'\n", option.name, zsh_quoted(option.meaning));
    }
    return fmt::format(
        "#compdef podsim\n"
        "# Completion of podsim for zsh: podsim help --completion zsh > _podsim, in a folder of "
        "$fpath\n"
        "_podsim_keys() {{\n"
        "  local -a keys=({})\n"
        "  if compset -P '*='; then\n"
        "    local key=${{IPREFIX%=}}\n"
        "    compset -P '*,'\n"
        "    case ${{key##*=}} in\n{}"
        "    esac\n"
        "    return\n"
        "  fi\n"
        "  compadd -S = -q -- $keys\n"
        "}}\n"
        "_podsim() {{\n"
        "  local -a commands=(\n{}  )\n"
        "  if (( CURRENT == 2 )); then\n"
        "    _describe command commands\n"
        "    return\n"
        "  fi\n"
        "  shift words\n"
        "  (( CURRENT-- ))\n"
        "  case $words[1] in\n{}"
        "  esac\n"
        "}}\n"
        "if [[ $funcstack[1] == _podsim ]]; then\n"
        "  _podsim \"$@\"\n"
        "else\n"
        "  compdef _podsim podsim\n"
        "fi\n",
        fmt::join(written_out_keys(), " "), names, commands, cases);
}

}  // namespace podsim::scenarios
