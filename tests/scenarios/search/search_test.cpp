// A search finds the same as an exhaustive one, for any number of threads.
#include "scenarios/src/search/search.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/search/search_report.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/search/search_support.h"

namespace podsim::scenarios {
namespace {

class SearchTest : public CommandTest {
protected:
    static void expect_same(const std::vector<FoundPlan>& one,
                            const std::vector<FoundPlan>& other) {
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            EXPECT_EQ(one[i].place, other[i].place);
            EXPECT_EQ(one[i].step_time, other[i].step_time);
            EXPECT_EQ(one[i].peak, other[i].peak);
        }
    }
    /// Expects a pruned search to find the same with any number of threads. Returns the
    /// exhaustive result.
    static SearchResult expect_what_trying_everything_finds(const SearchSpace& space) {
        SearchResult all = search(space, {.jobs = 2, .prunes = false});
        const SearchResult found = search(space, {.jobs = 2});
        EXPECT_LE(found.simulated, all.simulated);
        EXPECT_EQ(sum_of(all), all.enumerated);
        EXPECT_EQ(sum_of(found), all.enumerated);
        // A candidate that is no valid scenario is not a plan, whatever its bound.
        EXPECT_EQ(found.refused, all.refused);
        EXPECT_LE(found.unfit, all.unfit);
        EXPECT_GE(found.pruned, found.pruned_while_simulated);
        expect_same(found.best, all.best);
        expect_same(found.near, all.near);
        expect_same(found.front, all.front);
        for (const int jobs : {1, 4}) {
            const SearchResult again = search(space, {.jobs = jobs});
            EXPECT_EQ(search_json(space, {"", again, {}}).dump(),
                      search_json(space, {"", found, {}}).dump());
        }
        return all;
    }
};

struct Space {
    const char* text;
    std::vector<std::string> over;
    std::vector<std::string> vary;
};

// Dense models and experts, rings and lines, several slices, a faulty machine; memory that is too
// small for some plans, or tight for the best, some of which offload to the host.
const std::vector<Space> kSpaces{
    {kSmallDense, {"mesh"}, {"training.remat=none,full", "overlap.prefetch_layers=1,2"}},
    {"hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 3}\n"
     "batch: {tokens: 128Ki, sequence: 4096}\nsearch: {memory_margin: 30 %}\n",
     {"mesh"},
     {"overlap.tensor=blocking,two-way", "training.remat=none,minimal"}},
    {"hardware: {chip: v5p, slice: 2x2x1, slices: 2}\nmodel: {base: mixtral-8x7b, layers: 2}\n"
     "batch: {tokens: 32Ki, sequence: 4096}\nreport: {tokens: 1T, price: 4 USD/chip-hour}\n"
     "search: {objective: cost}\n",
     {"mesh"},
     {"batch.tokens=32Ki,64Ki", "overlap.tensor=blocking,two-way"}},
    {"hardware: {chip: v5p, slice: 4x4x4}\nmodel: {base: llama-3-8b, layers: 2}\n"
     "batch: {tokens: 256Ki, sequence: 4096}\n"
     "search: {objective: chips, deadline: 400 ms, mesh: {fsdp: any, tensor: [1, 2, 4]}}\n",
     {"mesh"},
     {"hardware.slice=2x2x4,2x4x4,4x4x4"}},
    {"hardware: {chip: v5p, slice: 2x2x4}\nmodel: {base: llama-3-8b, layers: 2}\n"
     "batch: {tokens: 64Ki, sequence: 4096}\nmesh: {fsdp: x y z}\n"
     "perturb: [{kind: slow_link, z: 1, link: z, rate: 50 %}]\nsearch: {objective: mfu}\n",
     {"mesh"},
     {}},
    {"hardware: {chip: {base: v5e, hbm_capacity: 18.5 GB, hbm_reserved: 0 B}, slice: 4x4}\n"
     "model: {base: llama-3-8b, layers: 3}\nbatch: {tokens: 256Ki, sequence: 4096}\n",
     {"mesh"},
     {"training.remat=none,full,minimal_offloaded", "overlap.tensor=blocking,two-way"}},
    {"hardware: {chip: {base: v5e, hbm_capacity: 13.3 GB, hbm_reserved: 0 B}, slice: 4x4}\n"
     "model: {base: llama-3-8b, layers: 3}\nbatch: {tokens: 256Ki, sequence: 4096}\n"
     "mesh: {data: x%2, fsdp: x/2 y}\n",
     {"mesh", "remat"},
     {}},
};

TEST_F(SearchTest, FindsWhatTryingEverythingFinds) {
    for (std::size_t i = 0; i < kSpaces.size(); ++i) {
        SCOPED_TRACE(i);
        const SearchSpace space(write(kSpaces[i].text), {},
                                {.over = kSpaces[i].over, .vary = kSpaces[i].vary});
        const SearchResult all = expect_what_trying_everything_finds(space);
        EXPECT_GT(all.simulated, 15U);
        // Even an exhaustive search has no plans beyond the deadline among its answers.
        EXPECT_EQ(all.pruned > 0, i == 3);
        EXPECT_EQ(all.pruned_while_simulated, 0U);
        // Tensor across the slices has no ring steps.
        EXPECT_EQ(all.refused_in_all() > 0, i == 2);
        const auto beyond = [](const FoundPlan& plan) { return plan.peak > plan.facts.capacity; };
        EXPECT_EQ(std::ranges::any_of(all.best, beyond), i >= 5);
        EXPECT_EQ(std::ranges::all_of(all.best, beyond), false);
        const auto offloads = [&](const FoundPlan& plan) {
            return space.set(plan.facts, plan.candidate)[0].find("offload") != std::string::npos;
        };
        EXPECT_EQ(std::ranges::any_of(all.best, offloads), i == 6);
    }
}

// Small slices, tori and lines; dense models and those with experts; batches that fit or do not;
// all keys vary.
TEST_F(SearchTest, FindsWhatTryingEverythingFindsInRandomSpaces) {
    std::mt19937_64 random(20261125);
    const auto one_of = [&](const std::vector<std::string>& texts) {
        return texts[random() % texts.size()];
    };
    std::uint64_t left_out = 0;
    for (int round = 0; round < 10; ++round) {
        const bool v5e = random() % 3 == 0;
        // v4p slices below 4x4x4 have no wrapped axis.
        const bool v4p = !v5e && round % 2 == 1;
        const std::string text = fmt::format(
            "hardware: {{chip: {}, slice: {}}}\nmodel: {{base: {}, layers: {}}}\n"
            "batch: {{tokens: {}, sequence: 4096}}\n"
            "report: {{tokens: 1T, price: 4 USD/chip-hour}}\nsearch: {{objective: {}}}\n",
            v5e   ? "v5e"
            : v4p ? "v4p"
                  : "v5p",
            v5e ? one_of({"2x4", "4x4"}) : one_of({"2x2x2", "2x2x4", "4x2x1"}),
            one_of({"llama-3-8b", "mixtral-8x7b", "gemma-2b"}), 1 + random() % 3,
            one_of({"32Ki", "64Ki", "128Ki"}), one_of({"step_time", "mfu", "cost"}));
        std::vector<std::string> vary{
            one_of({"training.remat=none,full", "training.remat=none,minimal",
                    "overlap.tensor=blocking,two-way", "overlap.tensor=one-way,two-way"})};
        if (random() % 2 == 0) {
            vary.push_back(one_of({"overlap.prefetch_layers=1,2", "overlap.weights=layer,block"}));
        }
        SCOPED_TRACE(text + vary.front());
        const SearchSpace space(write(text), {}, {.over = {"mesh"}, .vary = vary});
        left_out += expect_what_trying_everything_finds(space).simulated;
    }
    EXPECT_GT(left_out, 500U);
}

// The best agrees with its report: its scenario has that step time.
TEST_F(SearchTest, SaysWhatItsPlansTake) {
    const std::string file = write(kSpaces[0].text);
    const SearchSpace space(file, {}, {.over = {"mesh"}, .vary = kSpaces[0].vary});
    const SearchResult found = search(space, {.jobs = 2});
    ASSERT_EQ(found.best.size(), kBest);
    for (const FoundPlan& plan : found.best) {
        const StepResult result =
            simulate_step(load_scenario(file, space.set(plan.facts, plan.candidate)),
                          Fold::automatic, {.explain = false});
        EXPECT_EQ(result.step_time, plan.step_time);
        EXPECT_EQ(result.memory.peak.value(), plan.peak);
        EXPECT_DOUBLE_EQ(result.mfu, plan.mfu());
        EXPECT_DOUBLE_EQ(result.tokens_per_s, plan.tokens_per_s());
        EXPECT_LE(plan.candidate.bound, result.step_time);
    }
}

// The slices that an axis spans decide if a plan can run, and how: meshes of equal sizes differ.
TEST_F(SearchTest, TellsMeshesApartByTheirSlices) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x1, slices: 2}\n"
        "model: {base: llama-3-8b, layers: 2}\n"
        "batch: {tokens: 64Ki, sequence: 4096}\n"
        "overlap: {tensor: two-way}\n");
    const SearchSpace space(file, {}, {.over = {"mesh"}});
    const SearchResult all = search(space, {.jobs = 2, .prunes = false});
    EXPECT_EQ(sum_of(all), all.enumerated);
    std::uint64_t refused = 0;
    for (const char* const mesh : {"{data: slice, tensor: x y}", "{data: x, tensor: y slice}",
                                   "{data: x y, tensor: slice}"}) {
        refused +=
            podsim({"check", file, "--set", std::string("mesh=") + mesh}).status == 2 ? 1 : 0;
    }
    EXPECT_EQ(refused, 2U);
    const auto reason = all.refused.find(file +
                                         ":4:19: overlap.tensor: the axis tensor has members in "
                                         "several slices, between which there are no "
                                         "ring "
                                         "steps");
    ASSERT_NE(reason, all.refused.end());
    // Four axes: 4 rows of 2 chips, two of which are 10 in any order, and 4 of slices; tensor spans
    // the slices in a quarter of the meshes.
    EXPECT_EQ(all.enumerated, 40U);
    EXPECT_EQ(reason->second, 10U);
}

// The overlap of collectives along an axis of one member has no effect: such plans take the same
// time to the picosecond, and are tried once.
TEST_F(SearchTest, TriesPlansThatAreTheSameOnce) {
    const SearchSpace space(
        write("hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 2}\n"
              "batch: {tokens: 32Ki, sequence: 2048}\n"
              "search: {mesh: {fsdp: any, context: [1, 4], tensor: [1, 2]}}\n"),
        {},
        {.over = {"mesh"},
         .vary = {"overlap.tensor=two-way,blocking", "training.remat=none,full",
                  "overlap.context=gathered,ring"}});
    ASSERT_EQ(space.settings(), 8U);
    const MeshSpace& meshes = *space.meshes(0);
    std::uint64_t plans = 0;
    for (const MeshSpace::Class& sizes : meshes.classes()) {
        const bool context = meshes.size_of(sizes, "context") > 1;
        const bool tensor = meshes.size_of(sizes, "tensor") > 1;
        plans += sizes.meshes.size() * 2 * (context ? 2 : 1) * (tensor ? 2 : 1);
        for (std::uint32_t setting = 0; setting < 8; ++setting) {
            // Settings count like digits: tensor's form, remat, context's form.
            const std::uint32_t first =
                (tensor ? setting & 4U : 0U) + (setting & 2U) + (context ? setting & 1U : 0U);
            const auto repeated = space.repeated(setting, sizes);
            ASSERT_EQ(repeated, first == setting ? std::nullopt : std::optional(first));
            if (repeated) {
                const auto step = [&](std::uint32_t one) {
                    const PlanFacts facts{.setting = one};
                    return simulate_step(space.scenario(facts, {.mesh = sizes.meshes.back()}),
                                         Fold::automatic, {.explain = false})
                        .step_time;
                };
                EXPECT_EQ(step(setting), step(first)) << setting;
            }
        }
    }
    EXPECT_EQ(space.plans(), plans);
    EXPECT_EQ(search(space, {.jobs = 2}).enumerated, plans);
}

// If one of two values is invalid, the other does not repeat it.
TEST_F(SearchTest, TriesThePlanThatAWrongValueStandsBefore) {
    const SearchSpace space(
        write("hardware: {chip: v5e, slice: 2x2}\nmodel: {base: gemma-2b, layers: 1}\n"
              "batch: {tokens: 8Ki, sequence: 2048}\nsearch: {mesh: {fsdp: any}}\n"),
        {}, {.over = {"mesh"}, .vary = {"overlap.tensor=both-ways,two-way,blocking"}});
    const SearchResult found = search(space, {.jobs = 1});
    EXPECT_EQ(found.enumerated, 3U);
    EXPECT_EQ(found.refused_in_all(), 1U);
    EXPECT_EQ(found.best.size(), 2U);
}

}  // namespace
}  // namespace podsim::scenarios
