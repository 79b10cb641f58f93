// `podsim init`: a first scenario of every chip and every model.
#include "scenarios/judge/draft.h"

#include <gmock/gmock.h>

#include "scenarios/load/load.h"
#include "scenarios/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "topology/chips/chip.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

using Init = CommandTest;

sim::Time step_of(const std::string& text) {
    const Scenario scenario = load_scenario(handed_over("", "draft.yaml", text, true));
    return simulate_step(scenario, Fold::automatic, {.explain = false}).step_time;
}

TEST_F(Init, EveryChipRunsASmallModelOnAHost) {
    for (const topology::ChipSpec& chip : topology::chip_catalogue()) {
        SCOPED_TRACE(chip.name);
        const Draft draft = draft_scenario(std::string(chip.name), "", "gemma-7b");
        EXPECT_GT(step_of(draft.text).ps, 0);
    }
}

TEST_F(Init, EveryModelLoadsAndRunsOnASlice) {
    for (const workloads::ModelSpec& model : workloads::model_catalogue()) {
        SCOPED_TRACE(model.name);
        const Draft draft = draft_scenario("v5p", "8x8x8", std::string(model.name));
        EXPECT_GT(step_of(draft.text).ps, 0);
    }
}

TEST_F(Init, WritesAFileThatRuns) {
    const std::string file = path("first.yaml");
    const Outcome written = podsim(
        {"init", "--chip", "v5p", "--slice", "8x8x8", "--model", "llama-3-70b", "--write", file});
    EXPECT_EQ(written.status, 0) << written.err;
    EXPECT_EQ(written.err, "");
    EXPECT_EQ(podsim({"check", file, "--fail-if-not-fit"}).status, 0);
    const Outcome unknown = podsim({"init", "--chip", "v5q", "--model", "llama-3-70b"});
    EXPECT_EQ(unknown.status, 2);
}

}  // namespace
}  // namespace podsim::scenarios
