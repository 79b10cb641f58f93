// The manual page and shell completion: they have everything that commands declare, and bash
// completes it.
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/src/cli/common.h"
#include "scenarios/src/cli/completion.h"
#include "scenarios/src/cli/exit_status.h"
#include "scenarios/src/cli/man_page.h"
#include "scenarios/src/scenario/schema.h"
#include "scenarios/src/search/search_spec.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "topology/chips/chip.h"
#include "topology/chips/slice_names.h"

namespace podsim::scenarios {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

/// A shell command's output, from both streams, and its status.
struct Ended {
    std::string text;
    int status = -1;
};

Ended shell(const std::string& command) {
    Ended ended;
    FILE* const pipe = ::popen(fmt::format("({}) 2>&1", command).c_str(), "r");
    if (pipe == nullptr) {
        return ended;
    }
    std::array<char, 4096> part{};
    for (std::size_t read = 0; (read = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
        ended.text.append(part.data(), read);
    }
    ended.status = ::pclose(pipe);
    return ended;
}

class ManualTest : public CommandTest {
protected:
    /// Returns bash's completions for the last of these words.
    [[nodiscard]] std::vector<std::string> offered(const std::vector<std::string>& words) const {
        const std::string script = write(bash_completion(manual()), "podsim.bash");
        std::vector<std::string> quoted;
        for (const std::string& word : words) {
            quoted.push_back('"' + word + '"');
        }
        const std::string line = fmt::format(
            "source {}; COMP_WORDS=({}); COMP_CWORD={}; _podsim; printf \"%s\\n\" "
            "\"${{COMPREPLY[@]}}\"",
            script, fmt::join(quoted, " "), words.size() - 1);
        const Ended ended = shell(fmt::format("cd '{}' && bash -c '{}'", path(""), line));
        EXPECT_EQ(ended.status, 0) << ended.text;
        std::istringstream lines(ended.text);
        std::vector<std::string> all;
        for (std::string each; std::getline(lines, each);) {
            if (!each.empty()) {
                all.push_back(each);
            }
        }
        return all;
    }
};

std::vector<std::string> options_of(const Usage& usage) {
    std::vector<std::string> names;
    for (const DescribedOption& option : usage.described()) {
        if (option.letter != 0) {
            names.push_back(fmt::format("-{}", option.letter));
        }
        names.push_back("--" + option.name);
    }
    return names;
}

/// Escapes hyphens as roff does.
std::string with_escaped_hyphens(const std::string& text) {
    std::string escaped;
    for (const char c : text) {
        escaped += c == '-' ? "\\-" : std::string(1, c);
    }
    return escaped;
}

/// Returns the text from `begin` to the next `end` after it.
std::string part_of(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t from = text.find(begin);
    EXPECT_NE(from, std::string::npos) << begin;
    return from == std::string::npos ? "" : text.substr(from, text.find(end, from + 1) - from);
}

TEST_F(ManualTest, CommandsParseWhatTheyDeclare) {
    for (const Command& command : all_commands()) {
        const std::string name(command.name);
        EXPECT_EQ(podsim({name, "--help"}).out, command.usage().help()) << name;
        EXPECT_EQ(podsim({name, "-h"}).out, command.usage().help()) << name;
        EXPECT_EQ(podsim({"help", name}).out, command.usage().help()) << name;
    }
}

TEST_F(ManualTest, EveryOptionIsInTheManualPage) {
    const std::string page = podsim({"help", "--man"}).out;
    for (const Command& command : all_commands()) {
        const std::string section =
            part_of(page, fmt::format(".SS \"podsim {}\"\n", command.name), "\n.S");
        for (const std::string& option : options_of(command.usage())) {
            EXPECT_THAT(section, HasSubstr("\\fB" + with_escaped_hyphens(option) + "\\fR"))
                << command.name;
        }
    }
    for (const ExitStatus& status : kExitStatuses) {
        EXPECT_THAT(page, HasSubstr(fmt::format("\\fB{}\\fR\n", status.status)));
    }
    for (const KeySpec& key : schema()) {
        EXPECT_THAT(page, HasSubstr(fmt::format("\n\\fB{}\\fR\n", key.path)));
    }
}

TEST_F(ManualTest, TroffHasNoWarning) {
    if (shell("command -v groff").status != 0) {
        GTEST_SKIP() << "no groff here";
    }
    const std::string file = write(podsim({"help", "--man"}).out, "podsim.1");
    const Ended ended = shell(fmt::format("groff -man -Tutf8 -ww '{}' > '{}'", file, path("page")));
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.text, "");
}

TEST_F(ManualTest, BashOffersCommandsAndTheirOptions) {
    EXPECT_THAT(offered({"podsim", "s"}), ElementsAreArray({"show", "sweep", "search", "serve"}));
    for (const Command& command : all_commands()) {
        EXPECT_THAT(offered({"podsim", std::string(command.name), "-"}),
                    ElementsAreArray(options_of(command.usage())));
    }
}

TEST_F(ManualTest, BashOffersValues) {
    EXPECT_THAT(offered({"podsim", "run", "--fold", ""}), ElementsAreArray({"auto", "off"}));
    EXPECT_THAT(offered({"podsim", "run", "--fold", "=", "o"}), ElementsAreArray({"off"}));
    EXPECT_THAT(offered({"podsim", "run", "--fold", "="}), ElementsAreArray({"auto", "off"}));
    EXPECT_THAT(offered({"podsim", "search", "--over", ""}), ElementsAreArray(names_of_over()));
    EXPECT_THAT(offered({"podsim", "search", "--over", "mesh,pre"}),
                ElementsAreArray({"mesh,prefetch"}));
    EXPECT_THAT(offered({"podsim", "help", "--completion", ""}),
                ElementsAreArray(completed_shells()));
    EXPECT_THAT(offered({"podsim", "import", "m"}), ElementsAreArray({"maxtext"}));
    std::vector<std::string> chips;
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        chips.push_back(chip.name);
    }
    for (const topology::ChipAlias& alias : topology::chip_aliases()) {
        chips.emplace_back(alias.name);
    }
    std::erase_if(chips, [](const std::string& chip) { return !chip.starts_with("v5"); });
    EXPECT_THAT(offered({"podsim", "init", "--chip", "v5"}), ElementsAreArray(chips));
}

TEST_F(ManualTest, BashOffersKeysAndFiles) {
    std::vector<std::string> keys;
    for (const KeySpec& key : schema()) {
        if (key.path.starts_with("training.remat")) {
            keys.push_back(fmt::format("{}=", key.path));
        }
    }
    EXPECT_FALSE(keys.empty());
    EXPECT_THAT(offered({"podsim", "sweep", "--vary", "training.remat"}), ElementsAreArray(keys));
    EXPECT_THAT(offered({"podsim", "run", "--set", "hardware.latency", "="}),
                ElementsAreArray({"additive", "floor"}));
    EXPECT_THAT(offered({"podsim", "run", "--set", "=", "hardware.latency", "=", "f"}),
                ElementsAreArray({"floor"}));
    EXPECT_THAT(offered({"podsim", "sweep", "--vary", "training.attention", "=", "causal,f"}),
                ElementsAreArray({"causal,full"}));
    EXPECT_THAT(offered({"podsim", "run", "--set", "model.qk_norm", "=", ""}),
                ElementsAreArray({"true", "false"}));
    EXPECT_THAT(offered({"podsim", "run", "--set", "batch.tokens", "="}),
                ElementsAreArray<std::string>({}));
    write("", "one.yaml");
    write("", "of a name.yaml");
    EXPECT_THAT(offered({"podsim", "run", "on"}), ElementsAreArray({"one.yaml"}));
    EXPECT_THAT(offered({"podsim", "run", "--json", "of"}), ElementsAreArray({"of a name.yaml"}));
}

/// Command lines whose last word each shell completes in the same manner.
constexpr std::pair<const char*, const char*> kCompleted[] = {
    {"ru", "run"},
    {"run --fo", "run --fold"},
    {"run --fold au", "run --fold auto"},
    {"list chi", "list chips"},
    {"run --set hardware.laten", "run --set hardware.latency"},
    {"run --set hardware.latency=fl", "run --set hardware.latency=floor"},
    {"run --set=hardware.latency=fl", "run --set=hardware.latency=floor"},
    {"sweep --vary training.attention=causal,fu", "sweep --vary training.attention=causal,full"},
    {"search --over mesh,remat,over", "search --over mesh,remat,overlap"},
};

/// Types a line and a tab in a terminal of its own, where `podsim` prints its arguments.
constexpr const char* kZsh = R"(zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1=; TERM=dumb; fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u
podsim() { print -r -- \"called <\$*>\" }; echo REA''DY"
zpty -r -m z out '*READY*'
zpty -w -n z "podsim $2"$'\t\n'
zpty -r -m z out '*called <*>*' && print -r -- "${${out##*called <}%%>*}"
)";

TEST_F(ManualTest, ZshCompletes) {
    if (shell("command -v zsh").status != 0) {
        GTEST_SKIP() << "no zsh here";
    }
    write(zsh_completion(manual()), "_podsim");
    const std::string script = write(kZsh, "type.zsh");
    for (const auto& [typed, completed] : kCompleted) {
        const Ended ended =
            shell(fmt::format("timeout 60 zsh -f '{}' '{}' '{}'", script, path(""), typed));
        std::string words = ended.text;
        std::erase(words, '\n');
        EXPECT_EQ(words, completed);
    }
}

TEST_F(ManualTest, FishCompletes) {
    if (shell("command -v fish").status != 0) {
        GTEST_SKIP() << "no fish here";
    }
    const std::string script = write(fish_completion(manual()), "podsim.fish");
    for (const auto& [typed, completed] : kCompleted) {
        const Ended ended =
            shell(fmt::format("cd '{}' && HOME=. fish -c 'source {}; complete -C \"podsim {}\"'",
                              path(""), script, typed));
        const std::string line(typed);
        std::string word = ended.text.substr(0, ended.text.find_first_of("\t\n"));
        word.erase(word.find_last_not_of('=') + 1);
        EXPECT_EQ(line.substr(0, line.rfind(' ') + 1) + word, completed) << ended.text;
    }
}

/// Shells that are not installed are not checked.
TEST_F(ManualTest, EveryShellsScriptIsSound) {
    for (const std::string& name : completed_shells()) {
        const std::string script = podsim({"help", "--completion", name}).out;
        for (const Command& command : all_commands()) {
            const Usage usage = command.usage();
            for (const DescribedOption& option : usage.described()) {
                EXPECT_THAT(script,
                            HasSubstr(name == "fish" ? "-l " + option.name : "--" + option.name));
            }
        }
        if (shell("command -v " + name).status == 0) {
            const Ended ended = shell(fmt::format("{} -n '{}'", name, write(script, "script")));
            EXPECT_EQ(ended.status, 0) << ended.text;
        }
    }
    const Outcome other = podsim({"help", "--completion", "bsh"});
    EXPECT_EQ(other.status, 2);
    EXPECT_EQ(other.err,
              "--completion: unknown shell 'bsh'; did you mean 'bash'? allowed: bash, zsh, fish\n");
}

}  // namespace
}  // namespace podsim::scenarios
