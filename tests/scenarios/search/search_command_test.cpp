// The output of `podsim search`.
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/yaml_tree.h"
#include "scenarios/src/search/plan_file.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/search/search_support.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using SearchCommand = CommandTest;

TEST_F(SearchCommand, Command) {
    const std::string file = write(kSmallDense);
    const std::vector<std::string> args{
        "search", file, "--over", "mesh", "--vary", "training.remat=none,full", "--jobs", "2"};
    std::vector<std::string> more = args;
    more.insert(more.end(), {"--json", "-", "--write", path("best.yaml")});
    const Outcome outcome = podsim(more);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["kind"], "search");
    EXPECT_EQ(json["best"].size(), 10U);
    for (const std::size_t place : {0U, 9U}) {
        const std::string name = place == 0 ? "best.yaml" : "best-10.yaml";
        const Outcome run = podsim({"run", path(name), "--no-explain", "--json", "-"});
        ASSERT_EQ(run.status, 0) << run.err;
        EXPECT_EQ(nlohmann::json::parse(run.out)["step_time_s"],
                  json["best"][place]["step_time_s"]);
    }
    const Outcome text = podsim(args);
    EXPECT_THAT(text.out, HasSubstr("nothing is left out without a proof"));
    EXPECT_THAT(text.out, HasSubstr("Why the second takes longer: its critical path"));
}

// Tokens and chips are the same in all, so only steps count.
TEST_F(SearchCommand, SaysWhatLiesWithinTheErrorOfADifference) {
    const std::string file = write(kGood);
    const std::vector<std::string> args{
        "search", file, "--vary", "training.remat=none,minimal_with_context,full", "--no-explain"};
    const auto best_of = [&](std::vector<std::string> more) {
        more.insert(more.begin(), args.begin(), args.end());
        more.insert(more.end(), {"--json", "-"});
        return nlohmann::json::parse(podsim(more).out)["best"];
    };
    const auto best = best_of({});
    ASSERT_EQ(best.size(), 3U);
    std::size_t within = 0;
    for (const auto& plan : best) {
        const double ratio =
            plan["step_time_s"].get<double>() / best[0]["step_time_s"].get<double>();
        EXPECT_EQ(plan["within_ratio_error"], std::log(ratio) <= 0.067) << ratio;
        within += plan["within_ratio_error"].get<bool>() ? 1 : 0;
    }
    EXPECT_EQ(within, 2U);
    EXPECT_THAT(podsim(args).out,
                HasSubstr(fmt::format("{} of the 3 above lie within 6.4 % of the best", within)));
    const Outcome alone =
        podsim({"search", file, "--vary", "training.remat=none,full", "--no-explain"});
    EXPECT_THAT(alone.out, HasSubstr("None of the others above lies within 6.4 % of the best, the "
                                     "error of a difference (80 % of 101 published pairs).\n"));
    // Published steps do not apply to another profile.
    EXPECT_FALSE(best_of({"--set", "hardware.profile=ideal"})[0].contains("within_ratio_error"));
}

// The printed settings of the best turn the file into that scenario, even beside a mapping of
// sizes, which does not map axes.
TEST_F(SearchCommand, SaysAllThatARunOfThePlanNeeds) {
    const auto best_runs = [&](const std::string& text, const std::vector<std::string>& over,
                               const std::string& besides) {
        const std::string file = write(text);
        std::vector<std::string> args{"search", file,      "--no-explain",   "--json",
                                      "-",      "--write", path("best.yaml")};
        args.insert(args.end(), over.begin(), over.end());
        const Outcome outcome = podsim(args);
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        const auto best = nlohmann::json::parse(outcome.out)["best"][0];
        EXPECT_EQ(best["set"][0], besides);
        std::vector<std::string> run{"run", file, "--no-explain", "--json", "-"};
        for (const auto& set : best["set"]) {
            run.insert(run.end(), {"--set", set.get<std::string>()});
        }
        for (const std::vector<std::string>& each :
             {run, {"run", path("best.yaml"), "--no-explain", "--json", "-"}}) {
            const Outcome result = podsim(each);
            ASSERT_EQ(result.status, 0) << result.err;
            EXPECT_EQ(nlohmann::json::parse(result.out)["step_time_s"], best["step_time_s"]);
        }
    };
    best_runs(std::string(kSmallDense) + "mesh: {fsdp: 4, tensor: 4}\nmesh_mapping: jax\n",
              {"--over", "mesh"}, "mesh_mapping=podsim");
    const std::string named =
        "hardware: {slice: v5p-16}\nmodel: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n";
    best_runs(named, {"--over", "slice"}, "hardware.chip=v5p");
    const Outcome conflict =
        podsim({"search", write(named), "--over", "slice", "--set", "hardware.chip=v4"});
    EXPECT_EQ(conflict.status, 2);
    EXPECT_EQ(plain(conflict.err),
              "s.yaml:1:19: hardware.slice: 'v5p-16' is a slice of v5p, not of v4p; leave the chip "
              "out, or write a shape\n");
}

// A decode step cannot split its one token, but it can split the cache.
TEST_F(SearchCommand, GoesOverAxesThatTheStepCanUse) {
    const std::string decode =
        "hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-70b, layers: 4}\n"
        "inference: {step: decode, batch: 32, context: 8192, weights: int8, kv_cache: int8}\n";
    const Outcome text = podsim({"search", write(decode), "--no-explain"});
    EXPECT_EQ(text.status, 0) << text.err;
    // 9 rows of an axis of 4, two of which are 45 in any order; remat and ring steps belong
    // to training.
    EXPECT_THAT(text.out, HasSubstr("90 candidates: 0 refused, "));
    EXPECT_THAT(text.out, HasSubstr("overlap.prefetch_layers=1"));
    EXPECT_THAT(text.out, HasSubstr("cache: "));
    EXPECT_THAT(text.out, Not(HasSubstr("context")));
    const Outcome prefill =
        podsim({"search",
                write("hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-70b, layers: 4}\n"
                      "inference: {step: prefill, batch: 4, prompt: 8192, weights: int8}\n"),
                "--over", "mesh", "--no-explain"});
    EXPECT_EQ(prefill.status, 0) << prefill.err;
    EXPECT_THAT(prefill.out, HasSubstr("45 candidates: 0 refused, "));
    EXPECT_THAT(prefill.out, HasSubstr("context: "));
}

// Expectations of the scenario's own plan do not apply to another.
TEST_F(SearchCommand, WritesPlansWithoutWhatWasExpected) {
    const std::string file = write(std::string(kSmallDense) +
                                   "mesh: {tensor: 8, context: 2}\nexpect: {step_time: {within: 1 "
                                   "%, of: 9 s, source: here}}\n");
    ASSERT_EQ(podsim({"run", file}).status, 1);
    const Outcome searched =
        podsim({"search", file, "--over", "mesh", "--no-explain", "--write", path("best.yaml")});
    ASSERT_EQ(searched.status, 0);
    EXPECT_THAT(searched.out, HasSubstr("Written to " + path("best.yaml") + ", the others to " +
                                        path("best-2.yaml") + " to "));
    EXPECT_EQ(podsim({"run", path("best.yaml")}).status, 0);
}

// Paths become relative to the output folder, even if its name is empty.
TEST_F(SearchCommand, MovesRelativePathsToTheFolderOfThePlan) {
    const std::filesystem::path here = std::filesystem::current_path();
    const YamlNode tree = parse_yaml("model: {hf_config: hf/config.json}\n", "s.yaml");
    const auto moved_to = [&](const std::string& to) {
        return moved(tree, "", to).find("model")->find("hf_config")->text;
    };
    EXPECT_EQ(moved_to(""), "hf/config.json");
    EXPECT_EQ(moved_to("."), "hf/config.json");
    EXPECT_EQ(moved_to("plans"), "../hf/config.json");
    EXPECT_EQ(moved_to((here / "a/b").string()), "../../hf/config.json");
    for (const std::string name : {"ours.yaml", "ours.yml"}) {
        const YamlNode profile = parse_yaml("hardware: {profile: " + name + "}\n", "s.yaml");
        EXPECT_EQ(moved(profile, "", "plans").find("hardware")->find("profile")->text,
                  "../" + name);
    }
}

}  // namespace
}  // namespace podsim::scenarios
