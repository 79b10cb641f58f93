// No output replaces a file that a command reads, nor another output: every option of every
// command, by every name of a file.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "scenarios/src/report/page.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using Texts = std::vector<std::string>;

/// Names a config, a profile and a trace. Its other errors would be reported after the
/// tested refusal.
constexpr const char* kNaming =
    "hardware: {chip: v5p, slice: 2x2x2, profile: profile.yaml}\n"
    "model: {hf_config: config.json}\n"
    "serving: {trace: trace.csv}\n";

constexpr const char* kScenarioThere =
    ": a scenario stands there, which would be lost; give it another path, or remove that file "
    "first\n";

struct CommandWithOutputs {
    Texts args;     ///< S is the scenario, R a record, F the folder
    Texts outputs;  ///< options
    Texts inputs;   ///< files that it reads
};

const Texts kNamed = {"s.yaml", "profile.yaml", "config.json", "trace.csv"};

const CommandWithOutputs kCommandsWithOutputs[] = {
    {{"run", "S"}, {"json", "trace", "report"}, kNamed},
    {{"compare", "S"}, {"json", "report"}, kNamed},
    {{"compare", "F"}, {"json", "report"}, kNamed},
    {{"calibrate", "S"}, {"json", "write"}, kNamed},
    {{"calibrate", "F"}, {"json", "write"}, kNamed},
    {{"show", "S"}, {"json"}, kNamed},
    {{"check", "S"}, {"json"}, kNamed},
    {{"check", "F"}, {"json"}, kNamed},
    {{"estimate", "S"}, {"json"}, kNamed},
    {{"serve", "S"}, {"json"}, kNamed},
    {{"sweep", "S", "--vary", "batch.tokens=1Mi,2Mi"}, {"csv", "jsonl", "report"}, kNamed},
    {{"search", "S", "--over", "remat"}, {"json", "write", "jsonl"}, kNamed},
    {{"search", "S", "--over", "remat", "--read", "R"}, {"json", "write", "jsonl"}, {"r.jsonl"}},
    {{"run", "S", "--set", "model.hf_config=other.json"}, {"json"}, {"other.json"}},
    {{"run", "S", "--set", "model={hf_config: other.json}"}, {"trace"}, {"other.json"}},
    {{"run", "S", "--set", "hardware.profile=other.yml"}, {"json"}, {"other.yml"}},
    {{"sweep", "S", "--vary", "model.hf_config=config.json,other.json"},
     {"csv", "jsonl", "report"},
     {"other.json"}},
    {{"search", "S", "--vary", "hardware.profile=measured,other.yaml"},
     {"json", "write"},
     {"other.yaml"}},
    {{"diff", "S", "--set-b", "training.remat=none"}, {"json"}, kNamed},
    {{"diff", "S", "--set-b", "model={hf_config: other.json}"}, {"json"}, {"other.json"}},
    {{"import", "maxtext", "s.yaml"}, {"json", "write"}, {"s.yaml"}},
    {{"import", "hf", "config.json"}, {"json"}, {"config.json"}},
    {{"merge", "R"}, {"jsonl"}, {"r.jsonl"}},
};

const CommandWithOutputs kOthersWithOutputs[] = {
    {{"collective", "--chip", "v5p", "--slice", "2x2x2", "--op", "all-gather", "--axes", "xyz",
      "--bytes", "1e3:1e6"},
     {"csv", "json", "report"},
     {}},
    {{"topology", "--chip", "v5p", "--slice", "2x2x2"}, {"graphviz", "json"}, {}},
};

class Outputs : public CommandTest {
protected:
    void SetUp() override {
        CommandTest::SetUp();
        write(kNaming);
        for (const char* const name : {"profile.yaml", "config.json", "trace.csv", "other.json",
                                       "other.yaml", "other.yml", "r.jsonl"}) {
            write("kept", name);
        }
        fs::create_directory(path("below"));
        fs::create_directory_symlink("below", path("aside"));
    }

    [[nodiscard]] Texts args_of(const CommandWithOutputs& command) const {
        Texts args;
        for (const std::string& arg : command.args) {
            args.push_back(arg == "S"              ? path("s.yaml")
                           : arg == "R"            ? path("r.jsonl")
                           : arg == "F"            ? path(".")
                           : fs::exists(path(arg)) ? path(arg)
                                                   : arg);
        }
        return args;
    }

    /// Returns paths that lead to a file; not all of them contain its name.
    [[nodiscard]] Texts names_of(const std::string& file) const {
        const std::string hard = "hard-" + file;
        const std::string soft = "soft-" + file;
        std::error_code there_already;
        fs::create_hard_link(path(file), path(hard), there_already);
        fs::create_symlink(file, path(soft), there_already);
        return {path(file), path("./" + file), path("below/../" + file), path(soft), path(hard)};
    }

    [[nodiscard]] std::string text_of(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

std::string joined(const Texts& args) {
    std::string text;
    for (const std::string& arg : args) {
        text += arg + ' ';
    }
    return text;
}

TEST_F(Outputs, NeverReplaceWhatIsRead) {
    int combinations = 0;
    for (const CommandWithOutputs& command : kCommandsWithOutputs) {
        for (const std::string& option : command.outputs) {
            for (const std::string& input : command.inputs) {
                const std::string before = text_of(input);
                for (const std::string& name : names_of(input)) {
                    Texts args = args_of(command);
                    args.insert(args.end(), {"--" + option, name});
                    const Outcome outcome = podsim(args);
                    EXPECT_EQ(outcome.status, 2) << joined(args);
                    EXPECT_EQ(outcome.out, "");
                    const std::string at = "--" + option + " " + name;
                    const std::string read = at +
                                             ": the command reads this file, and would overwrite "
                                             "it; give it another path\n";
                    // For a folder the command may check either rule first.
                    const bool in_folder = input == "s.yaml" && command.args[1] == "F";
                    EXPECT_THAT(outcome.err, AnyOf(read, in_folder ? at + kScenarioThere : read))
                        << joined(args);
                    EXPECT_EQ(text_of(input), before) << joined(args);
                    ++combinations;
                }
            }
        }
    }
    EXPECT_EQ(combinations, 540);
}

TEST_F(Outputs, NeverShareAFile) {
    int combinations = 0;
    Texts places = names_of("other.json");
    places.push_back(path("new"));
    fs::create_symlink("later", path("dangling"));
    const auto two_names = [&](const std::string& one, const std::string& other) {
        return std::pair{path(one), path(other)};
    };
    std::vector<std::pair<std::string, std::string>> pairs = {
        two_names("new", "new"), two_names("new", "./new"), two_names("below/new", "aside/new"),
        two_names("dangling", "later"), two_names("later", "dangling")};
    for (const std::string& name : places) {
        pairs.emplace_back(places.front(), name);
    }
    pairs.pop_back();  // `new` is another file
    std::vector<CommandWithOutputs> commands(std::begin(kCommandsWithOutputs),
                                             std::end(kCommandsWithOutputs));
    commands.insert(commands.end(), std::begin(kOthersWithOutputs), std::end(kOthersWithOutputs));
    for (const CommandWithOutputs& command : commands) {
        for (const std::string& first : command.outputs) {
            for (const std::string& second : command.outputs) {
                for (const auto& [one, other] : pairs) {
                    if (first == second) {
                        continue;
                    }
                    Texts args = args_of(command);
                    args.insert(args.end(), {"--" + first, one, "--" + second, other});
                    const Outcome outcome = podsim(args);
                    EXPECT_EQ(outcome.status, 2) << joined(args);
                    const auto message = [](const std::string& option, const std::string& name,
                                            const std::string& as) {
                        return "--" + option + " " + name + ": --" + as +
                               " names the same file; give it another path\n";
                    };
                    // Either option may be checked first.
                    EXPECT_THAT(outcome.err,
                                AnyOf(message(first, one, second), message(second, other, first)))
                        << joined(args);
                    ++combinations;
                }
            }
        }
    }
    EXPECT_GE(combinations, 250);
    EXPECT_EQ(text_of("other.json"), "kept");
    EXPECT_FALSE(fs::exists(path("new")));
    EXPECT_FALSE(fs::exists(path("later")));
}

// The file behind standard input is an input like others.
TEST_F(Outputs, ReplaceNothingThatStandardInputReads) {
    const std::string before = text_of("s.yaml");
    const std::string command = program_path() + " run - --no-explain --json " + path("s.yaml") +
                                " < " + path("s.yaml") + " 2> " + path("err");
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
    EXPECT_EQ(text_of("err"), "--json " + path("s.yaml") +
                                  ": the command reads this file, and would overwrite it; give it "
                                  "another path\n");
    EXPECT_EQ(text_of("s.yaml"), before);
}

// By `--write` of another command, or by a mistyped name.
TEST_F(Outputs, ReplaceNoScenarioOfPeople) {
    const std::string file = write(kGood, "good.yaml");
    const std::string mine = std::string("# mine\n") + kGood;
    write(mine, "mine.yaml");
    const std::string base = source_folder() + "/tests/scenarios/import/maxtext/base-2025.yml";
    const Texts import{
        "import",  "maxtext",        base, "model_name=llama3.1-8b", "compile_topology=v6e-64",
        "--write", path("mine.yaml")};
    const Texts init{"init",     "--slice", "v5p-16",         "--model",
                     "gemma-2b", "--write", path("mine.yaml")};
    const Texts search{"search", file, "--over", "remat", "--write", path("mine.yaml")};
    const Texts run{"run", file, "--no-explain", "--json", path("mine.yaml")};
    for (const Texts& args : {import, init, search, run}) {
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2) << args[0];
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, "--" + std::string(args[0] == "run" ? "json " : "write ") +
                                   path("mine.yaml") + kScenarioThere);
        EXPECT_EQ(text_of("mine.yaml"), mine);
    }
    // podsim overwrites its own results, imports and plans, but no first scenario.
    const auto twice = [&](Texts args, const std::string& name) {
        args.back() = path(name);
        EXPECT_EQ(podsim(args).status, 0) << name;
        return podsim(args).status;
    };
    EXPECT_EQ(twice(import, "i.yaml"), 0);
    EXPECT_EQ(twice(search, "plan.yaml"), 0);
    EXPECT_EQ(twice(run, "r.json"), 0);
    EXPECT_EQ(twice(init, "first.yaml"), 2);
    // A numbered plan.
    write(mine, "plan-2.yaml");
    Texts again = search;
    again.back() = path("plan.yaml");
    EXPECT_EQ(podsim(again).err, "--write " + path("plan-2.yaml") + kScenarioThere);
}

// Plans of a search beyond the first have names that no option contains.
TEST_F(Outputs, NumberedPlansReplaceNothing) {
    write("kept", "best-2.yaml");
    const Texts search = {"search", path("s.yaml"), "--over",
                          "remat",  "--write",      path("best.yaml")};
    Texts args = search;
    args.insert(args.end(), {"--set", "hardware.profile=best-2.yaml"});
    EXPECT_EQ(podsim(args).err, "--write " + path("best-2.yaml") +
                                    ": the command reads this file, and would overwrite it; give "
                                    "it another path\n");
    args = search;
    args.insert(args.end(), {"--json", path("best-3.yaml")});
    EXPECT_EQ(podsim(args).err, "--write " + path("best-3.yaml") +
                                    ": --json names the same file; give it another path\n");
    EXPECT_EQ(text_of("best-2.yaml"), "kept");
}

}  // namespace
}  // namespace podsim::scenarios
