// A candidate's bound is that of its own plan, though plans share outlines.
#include "scenarios/src/search/candidates.h"

#include <gtest/gtest.h>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/step_outline.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class CandidatesTest : public CommandTest {
protected:
    /// Expects each plan's bound, and the minimum of a group, to equal those of its own scenario.
    /// Returns the number of plans.
    static std::size_t expect_own_bounds(const SearchSpace& space) {
        const Bounding bounding(space);
        std::size_t plans = 0;
        EXPECT_EQ(bounding.machines(), 1U);
        for (std::size_t piece = 0; piece < bounding.pieces(0); ++piece) {
            BoundedPlans bounded = bounding.bound(0, piece);
            for (const RoughGroup& group : std::vector(bounded.rough)) {
                bounded.add(bounding.refined(group));
            }
            for (const Candidate& candidate : bounded.candidates) {
                const PlanFacts& facts = bounded.facts[candidate.facts];
                const Scenario scenario = space.scenario(facts, candidate);
                StepOutline own(scenario);
                EXPECT_EQ(candidate.bound, own.bound(scenario.step().mesh))
                    << space.set(facts, candidate).back();
                EXPECT_EQ(facts.least_peak, own.least_peak().value());
                ++plans;
            }
        }
        return plans;
    }
};

struct ListedSpace {
    const char* text;
    const char* vary;
};

// Lines, whose groups of several factors lie x y, y z/2 or y z%2: the links that a hop crosses
// decide how the ring steps of a collective matmul divide an array. Stages, experts, slices, ring
// attention, a twisted torus.
const std::vector<ListedSpace> kListedSpaces{
    {"hardware: {chip: v4p, slice: 2x2x4}\n"
     "model: {base: gemma-2b, layers: 8, d_model: 1024, d_ff: 4096, vocabulary: 32000}\n"
     "batch: {tokens: 4096, sequence: 512}\n",
     "overlap.tensor=one-way,two-way"},
    {"hardware: {chip: v5e, slice: 4x8}\nmodel: {base: llama-3-8b, layers: 4}\n"
     "batch: {tokens: 64Ki, sequence: 2048}\nsearch: {mesh: {fsdp: any, tensor: [2, 8, 16]}}\n",
     "overlap.tensor=two-way"},
    {"hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 4}\n"
     "batch: {tokens: 64Ki, sequence: 2048}\n"
     "search: {mesh: {pipeline: [2], tensor: any, fsdp: any}}\n",
     "overlap.tensor=one-way,two-way"},
    {"hardware: {chip: v5p, slice: 2x2x4}\nmodel: {base: mixtral-8x7b, layers: 2}\n"
     "batch: {tokens: 64Ki, sequence: 2048}\nsearch: {mesh: {expert: [2, 4], tensor: any, fsdp: "
     "any}}\n",
     "overlap.tensor=blocking,two-way"},
    {"hardware: {chip: v5e, slice: 4x4}\nmodel: {base: llama-3-8b, layers: 12}\n"
     "batch: {tokens: 64Ki, sequence: 2048}\nsearch: {mesh: {context: any, tensor: any, fsdp: "
     "any}}\n",
     "overlap.context=gathered,ring"},
    {"hardware: {chip: v5p, slice: 2x2x1, slices: 2}\nmodel: {base: llama-3-8b, layers: 2}\n"
     "batch: {tokens: 64Ki, sequence: 2048}\n",
     "overlap.tensor=blocking,two-way"},
    {"hardware: {chip: v5p, slice: 4x4x8, twisted: true}\nmodel: {base: llama-3-8b, layers: 2}\n"
     "batch: {tokens: 256Ki, sequence: 2048}\nsearch: {mesh: {tensor: [8], fsdp: any}}\n",
     "overlap.tensor=two-way"},
};

TEST_F(CandidatesTest, HaveTheBoundsOfTheirOwnPlans) {
    std::size_t plans = 0;
    for (std::size_t i = 0; i < kListedSpaces.size(); ++i) {
        SCOPED_TRACE(i);
        const SearchSpace space(write(kListedSpaces[i].text), {},
                                {.over = {"mesh"}, .vary = {kListedSpaces[i].vary}});
        const std::size_t found = expect_own_bounds(space);
        EXPECT_GT(found, 10U);
        plans += found;
    }
    EXPECT_GT(plans, 340U);
}

}  // namespace
}  // namespace podsim::scenarios
