// A program's stages as a timeline.
#include "scenarios/src/report/program_timeline.h"

#include <gmock/gmock.h>

#include "tests/scenarios/report/timeline_support.h"

namespace podsim::scenarios {
namespace {

using samples::brief;
using samples::find_track;
using ::testing::ElementsAre;

StageResult stage(const std::string& name, const std::string& resource, std::int64_t began,
                  std::int64_t ended) {
    return {.name = name,
            .resource = resource,
            .began = {began},
            .ended = {ended},
            .bound = sim::Seconds(1e-6)};
}

// The two gathers overlap; the load does not wait for them.
TEST(ProgramTimeline, HasStagesByResourceOnLanes) {
    Scenario scenario;
    scenario.name = "three stages";
    ProgramResult result;
    result.time = sim::Time{90};
    result.stages = {stage("load", "pcie", 0, 40), stage("gather", "ici", 10, 50),
                     stage("scatter", "ici", 45, 90)};
    TimelineCollector collector;
    tell_program(scenario, result, collector);
    const Timeline timeline = collector.take();
    ASSERT_EQ(timeline.processes.size(), 1U);
    const Timeline::FilledProcess& process = timeline.processes[0];
    EXPECT_EQ(process.process.end, sim::Time{90});
    ASSERT_EQ(process.tracks.size(), 4U);
    EXPECT_THAT(brief(process, "Steps"), ElementsAre("program 0-90"));
    EXPECT_THAT(brief(process, "PCIe"), ElementsAre("load 0-40"));
    EXPECT_THAT(brief(process, "ICI"), ElementsAre("gather 10-50"));
    EXPECT_THAT(brief(process, "ICI #2"), ElementsAre("scatter 45-90"));
    EXPECT_THAT(find_track(process, "PCIe")->slices.at(0).arguments,
                ElementsAre(Argument{"bound", "PCIe"}, Argument{"bound_us", 1.0}));
}

}  // namespace
}  // namespace podsim::scenarios
