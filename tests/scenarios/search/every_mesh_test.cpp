// The best of a space are the best of all its meshes, including those that an exchange of equal
// axes maps onto each other: their steps are the same, though only one of them is in the space.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/search/search.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class EveryMeshTest : public CommandTest {};

/// Rows of x and y: `f` gives the whole axis to fsdp, `ft` its neighbours to fsdp and strided ones
/// to tensor.
using Rows = std::pair<std::string, std::string>;

/// Returns the meshes of 4x4 chips, by the rows of both axes.
std::map<Rows, std::string> all_meshes() {
    std::map<Rows, std::string> meshes;
    for (const std::string x : {"f", "t", "ft", "tf"}) {
        for (const std::string y : {"f", "t", "ft", "tf"}) {
            std::map<char, std::string> factors;
            for (const auto& [axis, row] : {std::pair{'x', x}, std::pair{'y', y}}) {
                for (std::size_t i = 0; i < row.size(); ++i) {
                    factors[row[i]] += row.size() == 1 ? fmt::format(" {}", axis)
                                                       : fmt::format(" {}{}2", axis, "/%"[i]);
                }
            }
            std::string mesh;
            for (const auto& [letter, text] : factors) {
                mesh += fmt::format("{}{}:{}", mesh.empty() ? "{" : ", ",
                                    letter == 'f' ? "fsdp" : "tensor", text);
            }
            meshes[{x, y}] = mesh + "}";
        }
    }
    return meshes;
}

TEST_F(EveryMeshTest, TakesAsLongAsAllOfItsKind) {
    const std::map<Rows, std::string> meshes = all_meshes();
    for (const char* const text :
         {"hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 4}\n"
          "batch: {tokens: 64Ki, sequence: 2048}\noverlap: {tensor: two-way}\n",
          "hardware: {chip: v5p, slice: 4x4x1}\n"
          "model: {base: gemma-2b, layers: 3, d_model: 1024, d_ff: 4096, vocabulary: 32000}\n"
          "batch: {tokens: 16Ki, sequence: 512}\n"}) {
        SCOPED_TRACE(text);
        const std::string file = write(text);
        std::map<Rows, std::set<std::int64_t>> kinds;
        std::size_t run = 0;
        for (const auto& [rows, mesh] : meshes) {
            try {
                const StepResult result =
                    simulate_step(load_scenario(file, std::vector{"mesh=" + mesh}), Fold::automatic,
                                  {.explain = false});
                kinds[std::minmax(rows.first, rows.second)].insert(result.step_time.ps);
                ++run;
            } catch (const sim::InputError&) {
                // A search refuses it, too.
            }
        }
        EXPECT_GT(run, kinds.size());
        std::vector<std::int64_t> fastest;
        for (const auto& [kind, steps] : kinds) {
            EXPECT_EQ(steps.size(), 1U) << kind.first << " " << kind.second;
            fastest.push_back(*steps.begin());
        }
        std::ranges::sort(fastest);
        const SearchSpace space(file,
                                std::vector<std::string>{"search.mesh={fsdp: any, tensor: any}"},
                                {.over = {"mesh"}});
        const SearchResult found = search(space, {.jobs = 2});
        // With four rows, one kind for each multiset of two.
        EXPECT_EQ(found.enumerated, 10U);
        ASSERT_EQ(found.best.size(), std::min(kBest, fastest.size()));
        for (std::size_t i = 0; i < found.best.size(); ++i) {
            EXPECT_EQ(found.best[i].step_time.ps, fastest[i]) << i;
        }
    }
}

// The ranks of stages matter, and an exchange may renumber them: the test covers all meshes whose
// axes have their factors in the order x y.
TEST_F(EveryMeshTest, OfStagesIsTheBestOfAllRanks) {
    const std::string file = write(
        "hardware: {chip: v6e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 8}\n"
        "inference: {step: prefill, batch: 16, prompt: 2048}\n");
    std::map<std::int64_t, std::string> all;
    for (const auto& [rows, mesh] : all_meshes()) {
        std::string stages = mesh;
        if (const std::size_t at = stages.find("fsdp"); at != std::string::npos) {
            stages.replace(at, 4, "pipeline");
        }
        try {
            const StepResult result =
                simulate_step(load_scenario(file, std::vector{"mesh=" + stages}), Fold::automatic,
                              {.explain = false});
            all.emplace(result.step_time.ps, stages);
        } catch (const sim::InputError&) {
            // A search refuses it, too.
        }
    }
    const SearchSpace space(file,
                            std::vector<std::string>{"search.mesh={pipeline: any, tensor: any}"},
                            {.over = {"mesh"}});
    const SearchResult found = search(space, {.jobs = 2, .prunes = false});
    // The number that LeavesOutNoOtherRanks counts.
    EXPECT_EQ(found.enumerated, 13U);
    ASSERT_GT(all.size(), 3U);
    EXPECT_EQ(found.best.front().step_time.ps, all.begin()->first) << all.begin()->second;
}

}  // namespace
}  // namespace podsim::scenarios
