// A search ends on request, in a space of any size, and limits the number of plans that it holds.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>
#include <vector>

#include "scenarios/src/base/time_limit.h"
#include "scenarios/src/cli/answer_search.h"
#include "scenarios/src/search/search_report.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/search/search_support.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using SearchTime = CommandTest;

/// A step of two layers on a pod: many meshes, a short simulation.
constexpr const char* kPod =
    "hardware: {chip: v5p, slice: 16x20x28}\nmodel: {base: llama-3-8b, layers: 2}\n"
    "batch: {tokens: 35Mi, sequence: 4096}\n";  // a sequence for each chip

// The test moves the clock.
TEST(TimeLimitTest, EndsWithTheTimeOnceSomethingIsFound) {
    double now = 1000;
    TimeLimit limit(nullptr, sim::Seconds(3), [&] { return now; });
    now = 1001.9;
    EXPECT_FALSE(limit.has_bounded());
    now = 1002.1;
    EXPECT_TRUE(limit.has_bounded());
    now = 1003.1;
    EXPECT_FALSE(limit.is_over());
    EXPECT_NO_THROW(limit.tell({.phase = Phase::bounding, .share = 0.5}));
    // Without a plan it waits for one, but at most half a second.
    now = 1003.6;
    EXPECT_TRUE(limit.is_over());
    EXPECT_THROW(limit.tell({.phase = Phase::bounding, .share = 0.5}), Stopped);

    now = 0;
    TimeLimit found(nullptr, sim::Seconds(3), [&] { return now; });
    found.tell({.phase = Phase::searching, .share = 1e-9});
    now = 2.9;
    EXPECT_FALSE(found.is_over());
    now = 3;
    EXPECT_TRUE(found.is_over());
    EXPECT_THROW(found.tell({.phase = Phase::searching, .share = 0.5}), Stopped);
}

/// About 10^9 plans, from values beside the 321,489 meshes of a pod.
SearchRequest billion() {
    std::string tokens;
    for (int i = 1; i <= 80; ++i) {
        tokens += fmt::format("{}{}Mi", i == 1 ? "" : ",", 35 * i);
    }
    return {.over = {"mesh", "remat", "prefetch", "overlap"}, .vary = {"batch.tokens=" + tokens}};
}

// Settings are read only when reached, plans are not counted one by one, and no class of meshes is
// bounded to its end.
TEST_F(SearchTime, EndsWithinSomePlansOfTenToTheNine) {
    const SearchSpace space(write(kPod), {}, billion());
    ASSERT_GE(space.settings(), 3500U);
    int asked = 0;
    const auto is_enough = [&] { return ++asked > 200; };
    const SearchResult found = search(space, {.jobs = 1, .stop_bounding = is_enough});
    EXPECT_GT(found.enumerated, 1'000'000'000U);
    EXPECT_FALSE(found.complete);
    EXPECT_GT(found.not_bounded, 0U);
    // There is one request for each bounded plan, except in the first batches, before there is a
    // plan to try.
    EXPECT_LT(found.enumerated - found.not_bounded, 50'000U);
    EXPECT_EQ(sum_of(found) + found.not_looked_at, found.enumerated);
    ASSERT_FALSE(found.best.empty());
    EXPECT_GT(found.gap, 0);
}

// A stop like Ctrl-C, at any point: if the varied values do not change the FLOPs, one plan suffices
// to say how much better another may be.
TEST_F(SearchTime, HasTheOwnPlanAndItsGapWhereverItIsStopped) {
    const SearchSpace space(write(kPod), {}, {.over = {"mesh", "remat", "prefetch", "weights"}});
    for (const int plans : {0, 1, 30}) {
        int heard = 0;
        /// Asks to stop after `plans` bounded plans.
        class Ends final : public Watch {
        public:
            Ends(int& heard, int plans) : heard_(heard), plans_(plans) {}
            void look() override {
                if (own_is_done_ && heard_++ >= plans_) {
                    request_stop();
                }
            }

        private:
            void hear(const PhaseProgress& progress) override {
                own_is_done_ = own_is_done_ || progress.phase == Phase::searching;
            }
            int& heard_;
            const int plans_;
            bool own_is_done_ = false;
        } watch(heard, plans);
        const SearchResult found = search(space, {.jobs = 1, .watch = &watch});
        EXPECT_LE(heard, plans + 10);
        ASSERT_FALSE(found.best.empty()) << plans;
        ASSERT_TRUE(found.own.has_value());
        EXPECT_EQ(found.best.front().place, found.own->plan.place);
        EXPECT_EQ(found.own->number, 1U);
        EXPECT_GT(found.not_bounded + found.not_listed, 0U);
        EXPECT_GT(found.gap, 0);
        EXPECT_LT(found.gap, 20);
    }
}

// Meshes of machines that are never reached are not listed.
TEST_F(SearchTime, ListsTheMeshesOfAMachineWhenItsTurnComes) {
    const SearchSpace space(write(kPod), {}, {.over = {"mesh", "slice"}});
    int asked = 0;
    const SearchResult found =
        search(space, {.jobs = 1, .stop_bounding = [&] { return ++asked > 50; }});
    EXPECT_GT(found.not_listed, 1'000'000U);
    std::uint32_t listed = 0;
    for (std::uint32_t setting = 0; setting < space.settings(); ++setting) {
        const MeshSpace* const meshes = space.meshes(setting);
        listed += meshes != nullptr && meshes->is_listed() ? 1 : 0;
    }
    EXPECT_GE(listed, 1U);
    EXPECT_LE(listed, 2U);  // the first, and that of the scenario's own plan
    EXPECT_THAT(search_text(space, {"", found, {}}),
                HasSubstr(fmt::format("beside them up to {} on machines whose meshes there was no "
                                      "time to list\n",
                                      found.not_listed)));
    EXPECT_EQ(search_json(space, {"", found, {}})["counts"]["not_listed"], found.not_listed);
}

std::vector<std::pair<std::uint64_t, std::int64_t>> places_of(const std::vector<FoundPlan>& plans) {
    std::vector<std::pair<std::uint64_t, std::int64_t>> places;
    for (const FoundPlan& plan : plans) {
        places.emplace_back(plan.place, plan.step_time.ps);
    }
    return places;
}

// In rounds: plans that are ruled out are forgotten, and the answers are the same, for any number
// of threads.
TEST_F(SearchTime, FindsTheSameWhereItMayHoldLess) {
    for (const std::string form : {"blocking,two-way", "two-way"}) {
        const SearchSpace space(
            write(kSmallDense), {},
            {.over = {"mesh"}, .vary = {"training.remat=none,full", "overlap.tensor=" + form}});
        const SearchResult all = search(space, {.jobs = 1});
        for (const std::size_t most : {1U, 40U}) {
            const SearchResult one = search(space, {.jobs = 1, .most_held = most});
            const SearchResult two = search(space, {.jobs = 2, .most_held = most});
            EXPECT_EQ(places_of(one.best), places_of(all.best)) << form << most;
            EXPECT_EQ(places_of(one.near), places_of(all.near));
            EXPECT_EQ(places_of(one.front), places_of(all.front));
            EXPECT_TRUE(one.complete);
            EXPECT_EQ(one.enumerated, all.enumerated);
            EXPECT_EQ(sum_of(one), one.enumerated);
            EXPECT_EQ(one.refused, all.refused);
            EXPECT_EQ(two.simulated, one.simulated);
            EXPECT_EQ(two.pruned, one.pruned);
            EXPECT_EQ(two.pruned_while_simulated, one.pruned_while_simulated);
            EXPECT_EQ(places_of(two.best), places_of(one.best));
        }
    }
}

// The floor of every plan, for any objective: no simulated plan takes less.
TEST_F(SearchTime, NoPlanTakesLessThanItsFlops) {
    const std::vector<std::pair<const char*, SearchRequest>> spaces{
        {kSmallDense, {.over = {"mesh"}, .vary = {"hardware.slice=2x2x2,2x2x4"}}},
        {"hardware: {chip: v5e, slice: 4x4}\nmodel: {base: mixtral-8x7b, layers: 2}\n"
         "batch: {tokens: 64Ki, sequence: 2048}\n"
         "search: {mesh: {expert: any, tensor: any, fsdp: any, pipeline: [1, 2]}}\n",
         {.over = {"mesh", "schedule"}, .vary = {"training.precision=bf16,int8"}}},
        {"hardware: {chip: v5e, slice: 4x4}\nmodel: llama-3-8b\n"
         "inference: {step: decode, batch: 16, context: 2048}\n",
         {.over = {"mesh"}}},
    };
    for (const auto& [text, request] : spaces) {
        const SearchSpace space(write(text), {}, request);
        const SearchResult found = search(space, {.jobs = 1, .prunes = false});
        ASSERT_FALSE(found.best.empty());
        for (const std::vector<FoundPlan>& plans : {found.best, found.near, found.front}) {
            for (const FoundPlan& plan : plans) {
                EXPECT_GE(plan.step_time, least_time(plan.facts))
                    << space.set(plan.facts, plan.candidate).back();
                EXPECT_GT(least_time(plan.facts).ps, 0);
            }
        }
    }
}

// Keys that the file varies but the command line does not are reported at their positions.
TEST_F(SearchTime, SaysWhatOfTheSectionItLeavesOut) {
    const std::string file = write(std::string(kSmallDense) +
                                   "search:\n  over: [mesh, remat]\n"
                                   "  vary: ['overlap.prefetch_layers=1,2']\n");
    const auto warnings = [&](const std::vector<std::string>& more) {
        std::vector<std::string> args{"search", file, "--no-explain", "--jobs", "1"};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.err;
    };
    const std::string rest =
        ", which does not vary here: --over and --vary replace what the section says\n";
    EXPECT_EQ(warnings({}), "");
    EXPECT_EQ(
        warnings({"--over", "mesh"}),
        fmt::format("podsim: warning: {0}:5:16: search.over has remat{1}"
                    "podsim: warning: {0}:6:10: search.vary has overlap.prefetch_layers=1,2{1}",
                    file, rest));
    EXPECT_EQ(warnings({"--vary", "overlap.prefetch_layers=0,1"}),
              fmt::format("podsim: warning: {0}:5:10: search.over has mesh{1}"
                          "podsim: warning: {0}:5:16: search.over has remat{1}",
                          file, rest));
    EXPECT_EQ(warnings({"--over", "mesh,remat", "--vary", "overlap.prefetch_layers=0,1"}), "");
}

}  // namespace
}  // namespace podsim::scenarios
