// If nothing fits, the search names the nearest plans, with changes that would make them fit.
#include "scenarios/src/search/near_misses.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/simulate/estimate_step.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

class NearMissesTest : public CommandTest {
protected:
    static constexpr const char* kTooLarge =
        "hardware: {chip: v5e, slice: 2x4}\nmodel: {base: llama-3-70b, layers: 12}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\nmesh: {fsdp: x y}\n";
    static inline const std::vector<std::string> kOver{"--over", "mesh,remat,overlap"};

    [[nodiscard]] Outcome search(std::vector<std::string> more) const {
        more.insert(more.begin(), {"search", write(kTooLarge)});
        more.insert(more.end(), kOver.begin(), kOver.end());
        return podsim(more);
    }
};

// The measure is the memory of every plan in program order: none is nearer than the first, whatever
// its bound.
TEST_F(NearMissesTest, AreTheNearestOfAll) {
    const SearchSpace space(write(kTooLarge), {}, {.over = {"mesh", "remat", "overlap"}});
    const SearchResult result = podsim::scenarios::search(space, {.jobs = 2});
    ASSERT_TRUE(result.best.empty());
    const std::vector<NearMiss> misses = near_misses(space, result);
    ASSERT_EQ(misses.size(), kNearMisses);
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t setting = 0; setting < space.settings(); ++setting) {
        for (const MeshSpace::Class& sizes : space.meshes(setting)->classes()) {
            const PlanFacts facts{.setting = setting};
            const Scenario scenario = space.scenario(facts, {.mesh = sizes.meshes.front()});
            const OrderedMemory memory = memory_in_order(scenario, build_step_of(scenario));
            least = std::min(least, (memory.peak - memory.capacity).value());
        }
    }
    EXPECT_DOUBLE_EQ(misses.front().over, least);
    EXPECT_TRUE(std::ranges::is_sorted(misses, {}, &NearMiss::over));
    // With its remedies it fits.
    ASSERT_FALSE(misses.front().remedies.each.empty());
    for (const Remedy& remedy : misses.front().remedies.each) {
        EXPECT_LE(remedy.peak.value(), misses.front().facts.capacity) << remedy.text;
    }
}

TEST_F(NearMissesTest, StandInTextAndJson) {
    const Outcome outcome = search({});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.out, HasSubstr("This plan, as the scenario has it: "));
    EXPECT_THAT(outcome.out, HasSubstr("which does not fit\n"));
    EXPECT_THAT(outcome.out, HasSubstr("\nThe nearest, with operations in program order, and "
                                       "single changes with which they would fit\n  "));
    EXPECT_THAT(outcome.out, HasSubstr("\n    would fit with "));
    const auto json = nlohmann::json::parse(search({"--json", "-"}).out);
    EXPECT_EQ(json["this_plan"]["fits"], false);
    ASSERT_EQ(json["nearest_misses"].size(), kNearMisses);
    for (const auto& miss : json["nearest_misses"]) {
        EXPECT_DOUBLE_EQ(miss["over_bytes"].get<double>(),
                         miss["peak_bytes"].get<double>() - miss["capacity_bytes"].get<double>());
        // A run of the miss reports the same.
        std::vector<std::string> args{"estimate", path("s.yaml"), "--json", "-"};
        for (const auto& set : miss["set"]) {
            args.insert(args.end(), {"--set", set.get<std::string>()});
        }
        const auto estimate = nlohmann::json::parse(podsim(args).out);
        EXPECT_EQ(estimate["memory"]["peak_bytes"], miss["peak_bytes"]);
    }
}

// The status is 4 if it is requested and only memory prevents a plan.
TEST_F(NearMissesTest, EndWithTheStatusThatIsAskedFor) {
    EXPECT_EQ(search({"--fail-if-not-fit"}).status, 4);
    EXPECT_EQ(search({"--fail-if-not-fit", "--set", "batch.tokens=64001"}).status, 2);
    const std::string fits = write(
        "hardware: {chip: v5p, slice: 2x2x1}\nmodel: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 32Ki, sequence: 4096}\n",
        "fits.yaml");
    const std::vector<std::string> args{"search", fits,           "--over",
                                        "remat",  "--no-explain", "--fail-if-not-fit"};
    EXPECT_EQ(podsim(args).status, 0);
    std::vector<std::string> late = args;
    late.insert(late.end(), {"--set", "search.deadline=1 ms"});
    EXPECT_EQ(podsim(late).status, 2);
}

}  // namespace
}  // namespace podsim::scenarios
