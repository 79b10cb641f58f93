// Scenarios that are not files: their names, folders and lines.
#include "scenarios/src/scenario/scenario_source.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <thread>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "scenarios/src/scenario/training_step.h"
#include "sim/base/error.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::ElementsAre;

class Source : public CommandTest {
protected:
    /// Returns the positions of the errors.
    static std::vector<std::string> places(const ScenarioSource& source) {
        std::vector<std::string> places;
        try {
            static_cast<void>(load_scenario(source));
        } catch (const sim::InputError& error) {
            for (const sim::InputError& each : sim::errors_in(error)) {
                places.push_back(fmt::format("{}:{}:{}", each.mark().file, each.mark().line,
                                             each.mark().column));
            }
        }
        return places;
    }
};

// A pipe can be read only once. Commands that reread their scenario still have its text, and know
// the files that it names.
TEST_F(Source, OfAPipeIsReadOnce) {
    const std::string config = source_folder() + "/tests/workloads/configs/llama-3-8b.json";
    std::filesystem::copy_file(config, path("config.json"));
    const std::string text = fmt::format(
        "hardware: {{chip: v5e, slice: 4x4}}\nmodel: {{hf_config: {}, layers: 2}}\n"
        "batch: {{tokens: 64Ki, sequence: 4096}}\nmesh: {{fsdp: x y}}\n",
        path("config.json"));
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    const auto through_pipe = [&](std::vector<std::string> args) {
        std::thread writer([&] { std::ofstream(path("pipe")) << text; });
        const Outcome outcome = podsim(std::move(args));
        writer.join();
        return outcome;
    };
    write(text);
    const std::string by_name = podsim({"run", path("s.yaml")}).out;
    const std::size_t from = by_name.find("Faster settings, each simulated");
    const std::string advice = by_name.substr(from, by_name.find("Assumed:") - from);
    ASSERT_THAT(advice, ::testing::HasSubstr("--set training.remat=none"));
    EXPECT_THAT(through_pipe({"run", path("pipe")}).out, ::testing::HasSubstr(advice));
    const Outcome lost = through_pipe({"run", path("pipe"), "--json", path("config.json")});
    EXPECT_EQ(lost.status, 2);
    EXPECT_THAT(lost.err, ::testing::HasSubstr("the command reads this file, and would overwrite"));
}

TEST_F(Source, OfATextIsTheScenarioOfAFileOfIt) {
    const Scenario file = load_scenario(write(kGood));
    const Scenario text = load_scenario(handed_over("", "<text>", kGood, true));
    EXPECT_EQ(text.file, "<text>");
    EXPECT_EQ(text.name, "<text>");  // without a name in the text; for a file it is the stem
    EXPECT_EQ(text.step().mesh_axes, file.step().mesh_axes);
    EXPECT_EQ(text.step().plan.batch.tokens, file.step().plan.batch.tokens);
    const std::vector<std::string> settings{"batch.tokens=512Ki"};
    EXPECT_EQ(
        load_scenario(handed_over("", "<text>", kGood, true), settings).step().plan.batch.tokens,
        2 * file.step().plan.batch.tokens);
}

TEST_F(Source, HasPathsOfItsFolder) {
    write(R"({"model_type": "qwen2", "hidden_size": 8})", "config.json");
    const std::string text = good_but("llama-3-8b", "{hf_config: config.json}");
    const auto problem = [&](const std::filesystem::path& folder) {
        try {
            static_cast<void>(load_scenario(handed_over(folder, "<text>", text, true)));
        } catch (const sim::InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::filesystem::path folder = std::filesystem::path(write(kGood)).parent_path();
    EXPECT_THAT(problem(folder / "nowhere"), ::testing::HasSubstr("cannot read '"));
    EXPECT_THAT(problem(folder), ::testing::Not(::testing::HasSubstr("cannot read '")));
    EXPECT_THAT(problem(folder), ::testing::Not(::testing::IsEmpty()));
}

/// kGood's first two lines are `hardware: {chip: v5p, slice: 4x4x4}`, with the slice's value at
/// column 30, and the model.
TEST_F(Source, HasLinesOrNone) {
    const std::string bad = good_but("4x4x4", "4x4x4x4");
    EXPECT_THAT(places(handed_over("", "<text>", bad, true)), ElementsAre("<text>:1:30"));
    EXPECT_THAT(places(handed_over("a/b", "<text>", bad, true)), ElementsAre("a/b/<text>:1:30"));
    EXPECT_THAT(places(handed_over("", "<dict>", bad, false)), ElementsAre("<dict>:0:0"));
    const std::string file = write("name: [");
    const std::string place = places(file).front().substr(file.size());
    EXPECT_THAT(places(handed_over("", "<text>", "name: [", true)), ElementsAre("<text>" + place));
    EXPECT_THAT(places(handed_over("", "<dict>", "name: [", false)), ElementsAre("<dict>:0:0"));
    // The same for a list's entries and for keys.
    const std::string keys = std::string(kGood) + "perturb: [{kind: none}]\nbatches: 1\n";
    for (const std::string& nowhere : places(handed_over("", "<dict>", keys, false))) {
        EXPECT_EQ(nowhere, "<dict>:0:0");
    }
    EXPECT_EQ(places(handed_over("", "<dict>", keys, false)).size(), 2U);
}

TEST_F(Source, IsTextLikeAFile) {
    EXPECT_THAT(places(handed_over("", "<text>", std::string(kLargestFile + 1, ' '), true)),
                ElementsAre("<text>:0:0"));
    EXPECT_THAT(places(handed_over("", "<text>", "name: \x01", true)), ElementsAre("<text>:1:7"));
}

TEST_F(Source, StandsAmongFiles) {
    const std::string file = write(kGood);
    const std::vector<ScenarioSource> named{handed_over("", "<text>", kGood, true), file};
    const std::vector<ScenarioSource> files = files_of(named);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[0].text, kGood);
    EXPECT_EQ(files[1].file, file);
    EXPECT_EQ(load_scenarios(files).size(), 2U);
}

}  // namespace
}  // namespace podsim::scenarios
