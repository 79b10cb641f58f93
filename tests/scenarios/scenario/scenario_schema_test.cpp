// The JSON Schema of scenarios and the loader have the same keys.
#include "scenarios/src/scenario/scenario_schema.h"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <set>

#include "scenarios/src/scenario/key_help.h"
#include "scenarios/src/scenario/probes.h"
#include "scenarios/src/scenario/schema.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void collect(const Json& node, const std::string& path, std::set<std::string>& paths) {
    if (node.contains("properties")) {
        for (const auto& [name, below] : node["properties"].items()) {
            const std::string place = path.empty() ? name : path + '.' + name;
            paths.insert(place);
            collect(below, place, paths);
        }
    }
    if (node.contains("items")) {
        collect(node["items"], path, paths);
    }
    for (std::size_t i = 0; node.contains("anyOf") && i < node["anyOf"].size(); ++i) {
        collect(node["anyOf"][i], path, paths);
    }
}

TEST(ScenarioSchema, EveryKeyIsOneOfTheLoaderAndTheReverse) {
    std::set<std::string> of_schema;
    collect(scenario_schema(), "", of_schema);
    for (const std::string& path : of_schema) {
        EXPECT_NE(find_key(path), nullptr) << path;
    }
    for (const KeySpec& key : schema()) {
        if (key.path.find('*') == std::string_view::npos) {
            EXPECT_TRUE(of_schema.contains(std::string(key.path))) << key.path;
        } else {
            const std::string below(key.path.substr(key.path.rfind('.')));
            EXPECT_TRUE(of_schema.contains("expect.mfu" + below)) << key.path;
        }
    }
}

// The value is a name or a list of names; the list has nothing else.
TEST(ScenarioSchema, NamesOfWhatASearchGoesOver) {
    const Json over = scenario_schema()["properties"]["search"]["properties"]["over"];
    const Json names = {
        {"enum",
         {"mesh", "slice", "remat", "prefetch", "overlap", "weights", "schedule", "microbatches"}}};
    EXPECT_EQ(over["anyOf"], Json({names, {{"type", "array"}, {"items", names}}})) << over;
}

// Ranges are those of any machine, not of the probed one.
TEST(ScenarioSchema, RangesAreThoseOfAnyMachine) {
    const Json schema = scenario_schema();
    const Json& perturb = schema["properties"]["perturb"]["items"]["properties"];
    for (const char* const key : {"x", "y", "z", "slice"}) {
        EXPECT_EQ(perturb[key]["anyOf"][0], Json({{"type", "integer"}, {"minimum", 0}})) << key;
    }
    const Json& mesh = schema["properties"]["mesh"]["anyOf"];
    const auto whole =
        std::ranges::find_if(mesh, [](const Json& one) { return one.contains("properties"); });
    ASSERT_NE(whole, mesh.end());
    const Json& sizes = (*whole)["properties"]["fsdp"]["anyOf"];
    EXPECT_TRUE(std::ranges::any_of(sizes, [](const Json& one) {
        return one == Json({{"type", "integer"}, {"minimum", 1}, {"maximum", 100000}});
    })) << sizes;
    EXPECT_THAT(key_help("perturb.slice"), HasSubstr("a whole number from 0\n"));
    EXPECT_THAT(key_help("perturb.slice"), Not(HasSubstr("--set")));
    EXPECT_THAT(key_help("batch.tokens"), HasSubstr("--set batch.tokens=4Mi"));
}

/// The loader asks for every key that takes a text: a key that it never asks for has no meaning.
TEST(ScenarioSchema, ProbesAreAskedForEveryKey) {
    const AskedKeys asked = ask_probes();
    for (const KeySpec& key : schema()) {
        const bool list = key.accepts == kList || key.accepts == (kText | kList);
        if ((key.accepts & kText) != 0 && !list && !key.path.starts_with("expect.")) {
            EXPECT_TRUE(asked.keys.contains(std::string(key.path))) << key.path;
        }
    }
    EXPECT_TRUE(asked.required.contains("hardware"));
    EXPECT_TRUE(asked.required.contains("hardware.slice"));
    EXPECT_FALSE(asked.required.contains("batch"));
}

/// As `podsim search` accepts it.
TEST(ScenarioSchema, AMeshMayBeAuto) {
    const Json mesh = scenario_schema()["properties"]["mesh"];
    ASSERT_EQ(mesh["anyOf"].size(), 2U);
    EXPECT_EQ(mesh["anyOf"][0]["type"], "object");
    EXPECT_EQ(mesh["anyOf"][1], (Json{{"const", "auto"}}));
    EXPECT_THAT(key_help("mesh"),
                HasSubstr("\n  values   a map; or auto, for podsim search to find\n"));
}

TEST(ScenarioSchema, TheFileInDocsIsWhatIsPrinted) {
    std::ifstream file(source_folder() + "/docs/scenario.schema.json");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(text, json_text(scenario_schema(), 2) + '\n')
        << "podsim help --schema > docs/scenario.schema.json";
}

TEST(KeyHelp, OneKeyByItsPathOrItsLastName) {
    const std::string text = key_help("training.zero");
    EXPECT_EQ(
        text,
        "training.zero\n"
        "  what data parallelism shards: 0 nothing, 1 the optimizer's state, 2 gradients too\n"
        "\n"
        "  values   a whole number from 0 to 2\n"
        "  default  0\n"
        "  example  zero: 1\n"
        "  option   --set training.zero=1\n");
    EXPECT_EQ(key_help("zero"), text);
    EXPECT_THAT(key_help("mesh"), HasSubstr("\nKeys\n  data "));
    EXPECT_THAT(key_help("microbatches"), HasSubstr("\ntraining.microbatches\n"));
    EXPECT_THAT(key_help("expect.mfu.within"), HasSubstr("allowed relative error"));
}

// The form agrees with the example beside it.
TEST(KeyHelp, SaysHowAValueIsWritten) {
    const auto values = [](const std::string& key) {
        const std::string text = key_help(key);
        const std::string label = "  values   ";
        const std::size_t begin = text.find(label) + label.size();
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    EXPECT_EQ(values("mesh.fsdp"),
              "physical axes and their factors; or a whole number from 1 to 100000");
    EXPECT_EQ(values("serving.prefix.share"), "a percentage");
    EXPECT_EQ(values("perturb.rate"), "a percentage");
    EXPECT_EQ(values("serving.rate"), "a number and a unit");
    EXPECT_EQ(values("report.price"), "a number and a unit");
    EXPECT_EQ(values("report.parameters"), "a number");
    EXPECT_EQ(values("training.expert_imbalance"), "a number; or a map; or a list");
    EXPECT_EQ(values("program.stages.weights"), "int8, fp8, bf16, fp32");
    EXPECT_EQ(values("program.stages.activations"), "int8, fp8, bf16, fp32");
}

using Help = CommandTest;

TEST_F(Help, TyposHaveTheNearestName) {
    const Outcome outcome = podsim({"help", "remta"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              "podsim help: no command, key or term is called 'remta'; did you mean 'remat'?\n");
    EXPECT_EQ(podsim({"help", "swep"}).err,
              "podsim help: no command, key or term is called 'swep'; did you mean 'sweep'?\n");
    EXPECT_EQ(podsim({"help", "run"}).out, podsim({"run", "--help"}).out);
    EXPECT_EQ(podsim({"help"}).out, podsim({"--help"}).out);
}

TEST_F(Help, AnswersOneQuestion) {
    const auto refused = [](std::vector<std::string> args, const std::string& questions) {
        args.insert(args.begin(), "help");
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err,
                  "podsim help: " + questions + " are two questions; ask one at a time\n");
    };
    refused({"--schema", "--man"}, "--schema and --man");
    refused({"--completion", "bash", "--man"}, "--man and --completion");
    refused({"--schema", "--completion", "bash"}, "--schema and --completion");
    refused({"training.remat", "--schema"}, "training.remat and --schema");
}

}  // namespace
}  // namespace podsim::scenarios
