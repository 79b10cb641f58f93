#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/src/cli/completion.h"

namespace podsim::scenarios {
namespace {

/// Returns the completion of an option's value or of an argument.
std::string bash_action(const DescribedOption& option) {
    const std::string words = fmt::format("words='{}'", fmt::join(option.offered, "\n"));
    switch (option.takes) {
        case Takes::nothing:
            return ":";
        case Takes::file:
            return "files=1";
        case Takes::settings:
            return "words=$keys end='='";
        case Takes::parts:
            return words + " parts=1";
        case Takes::text:
            return option.offered.empty() ? ":" : words;
    }
    return ":";
}

std::string bash_case(std::string_view pattern, const std::string& action) {
    return fmt::format("    {}) {} ;;\n", pattern, action);
}

std::string bash_options(const DescribedCommand& command) {
    std::vector<std::string> names;
    for (const DescribedOption& option : command.usage.described()) {
        if (option.letter != 0) {
            names.push_back(fmt::format("-{}", option.letter));
        }
        names.push_back("--" + option.name);
    }
    return fmt::format("words='{}'", fmt::join(names, "\n"));
}

/// Returns the cases of the arguments. Offered names complete the first of several; files complete
/// the others.
std::string bash_arguments(const DescribedCommand& command) {
    const DescribedOption& arguments = command.usage.arguments();
    const bool one_then_files = !arguments.offered.empty() && arguments.most != 1;
    return bash_case(fmt::format("'{} 2 '*", command.name), bash_action(arguments)) +
           bash_case(fmt::format("'{} '*", command.name), one_then_files ? "files=1"
                                                          : arguments.offered.empty()
                                                              ? bash_action(arguments)
                                                              : ":");
}

constexpr const char* kBegin =
    R"(# Completion of podsim for bash: source <(podsim help --completion bash)
_podsim() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  local words= files= parts= end= before= key=
  COMPREPLY=()
  # `=` makes a word of its own: --fold=off is three words, and so is key=value.
  if [[ $cur == = ]]; then
    cur= key=$prev
  elif [[ $prev == = ]]; then
    key=${COMP_WORDS[COMP_CWORD-2]} prev=$key
  fi
)";

constexpr const char* kEnd = R"(  if [[ $files ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    compopt -o filenames 2>/dev/null
    return 0
  fi
  if [[ $parts && $cur == *,* ]]; then
    before=${cur%,*},
    cur=${cur##*,}
  fi
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen -P "$before" -S "$end" -W "$words" -- "$cur")
  if [[ $end ]]; then
    compopt -o nospace 2>/dev/null
  fi
  return 0
}
complete -F _podsim podsim
)";

}  // namespace

std::string bash_completion(const Manual& manual) {
    std::vector<std::string> first;
    std::string values;
    std::string others;
    for (const DescribedCommand& command : manual.commands) {
        first.emplace_back(command.name);
        for (const DescribedOption& option : command.usage.described()) {
            if (option.takes != Takes::nothing) {
                values += bash_case(fmt::format("'{} --{}'", command.name, option.name),
                                    bash_action(option));
            }
        }
        others += bash_case(fmt::format("'{} '[0-9]*' -'*", command.name), bash_options(command)) +
                  bash_arguments(command);
    }
    for (const GeneralOption& option : manual.options) {
        first.push_back(fmt::format("-{}", option.letter));
        first.push_back(fmt::format("--{}", option.name));
    }
    std::string names;
    for (const auto& [key, values_of_key] : names_under_keys()) {
        names += bash_case(key, fmt::format("words='{}'", fmt::join(values_of_key, "\n")));
    }
    return kBegin + fmt::format("  local keys='{}'\n", fmt::join(written_out_keys(), "\n")) +
           fmt::format("  if ((COMP_CWORD == 1)); then\n    words='{}'\n", fmt::join(first, "\n")) +
           "  elif [[ $key && $key != -* ]]; then\n  parts=1\n  case $key in\n" + names +
           "  esac\n  else\n" + "  case \"$command $prev\" in\n" + values +
           "    *) case \"$command $COMP_CWORD $cur\" in\n" + others +
           "    esac ;;\n  esac\n  fi\n" + kEnd;
}

}  // namespace podsim::scenarios
