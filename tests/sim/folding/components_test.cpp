// Several graphs: each skips its own repeats, whatever arrives from the others meanwhile.
#include <gtest/gtest.h>
#include <vector>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

constexpr std::uint32_t kLayersOfGraph = 100;
constexpr std::uint32_t kMessage = kLayersOfGraph;      ///< an operation
constexpr std::uint32_t kReceive = 2 * kLayersOfGraph;  ///< a task

/// Places 0 and 1 run layers of 100 of work, after each of which 0 sends 60
/// bytes to 1, 1 a picosecond. The sender goes on at once, so layer k works from
/// 100 k there; at place 1 it begins 60 later, for k > 0. Place 2 works 4030 and
/// sends 1000 bytes to both over the same first link, which arrive at 5030 and
/// 6030, in the middle of their layers. `last` is the task that follows both.
Workload layers_beside_a_message(Task last) {
    Workload workload;
    workload.machine = row_of(3, false, {0});
    workload.schedules = {schedule_of({{.role = 0, .bytes = 60, .to_role = 1}}, 2, {}),
                          schedule_of({{.role = 0, .distance = -2, .bytes = 1000, .to_role = 1},
                                       {.role = 0, .distance = -1, .bytes = 1000, .to_role = 2}},
                                      3, {}),
                          schedule_of({{.role = 0, .bytes = 250, .to_role = 1}}, 2, {})};
    workload.placements = {{0, 1, kAbsent}, {1, 2, 0}};
    TaskGraph layers;
    for (std::uint32_t layer = 0; layer < kLayersOfGraph; ++layer) {
        layers.marks.push_back(2 * layer);
        layers.tasks.push_back(work(100));
        if (layer > 0) {
            layers.tasks.back().after = {2 * layer - 1};
        }
        layers.tasks.push_back(after(operation(layer), {2 * layer}));
        workload.operations.push_back({.schedule = 0, .placement = 0});
    }
    layers.tasks.push_back(operation(kMessage));
    workload.operations.push_back({.schedule = 1, .placement = 1});
    last.after = {kReceive};
    layers.tasks.push_back(last);
    if (last.operation != kNoOperation) {
        workload.operations.push_back({.schedule = 2, .placement = 0});
    }
    workload.graphs = {layers, {{work(4030), after(operation(kMessage), {0})}}};
    workload.graph_of_place = {0, 0, 1};
    return workload;
}

/// The runs with and without skipping, which must be alike.
struct Runs {
    explicit Runs(const Workload& workload)
        : with(execute(workload)), without(execute(workload, nullptr, false)) {
        EXPECT_EQ(with.end, without.end);
        EXPECT_EQ(with.end_of_place, without.end_of_place);
        EXPECT_EQ(with.links, without.links);
        EXPECT_EQ(with.events, without.events);
        EXPECT_EQ(without.played_events, without.events);
    }
    ExecutionResult with;
    ExecutionResult without;
};

/// The last task works on the stream of the layers and waits until they are done, so that the
/// message changes nothing and nearly all layers are skipped.
TEST(ComponentsTest, AMessageMayComeWhileLayersAreSkipped) {
    const Runs runs(layers_beside_a_message(work(7)));
    EXPECT_EQ(runs.with.end_of_place, (std::vector<Time>{{10007}, {10067}, {4030}}));
    // The events are layers of 2 tasks at 2 places and a hop, 3 hops of messages, 4 ends of their
    // tasks, and 2 of the last.
    EXPECT_EQ(runs.with.events, 100 * 5 + 3 + 4 + 2U);
    EXPECT_LT(runs.with.played_events, 40U);
}

/// The last task sends as soon as the message has come, over the link of the layers. At 5030 the
/// link is busy until 5060; it is then held until 5310. The bytes due at 5100 are 210 late, and so
/// is place 1 from then on. Later layers are skipped again.
TEST(ComponentsTest, AMessageThatStartsSomethingIsWaitedFor) {
    const Runs runs(layers_beside_a_message(operation(kLayersOfGraph + 1)));
    EXPECT_EQ(runs.with.end, Time{10060 + 210});
    EXPECT_GT(runs.with.played_events, 50 * 5U);
    EXPECT_LT(runs.with.played_events, 75 * 5U);
}

/// Place 0 runs 100 layers of 100; place 1 works 4030 and sends it 60 bytes, which arrive at 4090.
/// A task of 4000 follows the message and layer 60; it begins when that layer ends, at 6100. Layers
/// are skipped up to layer 60, but not past it before the message has arrived, as it would be the
/// last need of the task. The 40 layers beside the task are played.
TEST(ComponentsTest, LayersWithSomethingBehindAMessageAreNotSkipped) {
    Workload workload;
    workload.machine = row_of(2, false, {0});
    workload.schedules = {
        schedule_of({{.role = 0, .distance = -1, .bytes = 60, .to_role = 1}}, 2, {1, 0})};
    workload.operations = {{.schedule = 0, .priority_class = 0}};
    constexpr std::uint32_t kLayer = 60;
    TaskGraph layers;
    for (std::uint32_t layer = 0; layer < kLayersOfGraph; ++layer) {
        layers.marks.push_back(layer);
        layers.tasks.push_back(work(100));
    }
    layers.tasks.push_back(operation(0));
    layers.tasks.push_back(work(4000, 1, {kLayer, kLayersOfGraph}));
    workload.graphs = {layers, {{work(4030), after(operation(0), {0})}}};
    workload.graph_of_place = {0, 1};
    const Runs runs(workload);
    EXPECT_EQ(runs.with.end_of_place, (std::vector<Time>{{10100}, {4030}}));
    // The events are the layers, the task behind them, both
    // ends of the message and its hop, and the work before it.
    EXPECT_EQ(runs.with.events, 100 + 1 + 2 + 1 + 1U);
    EXPECT_LT(runs.with.played_events, 55U);
}

/// The layers' bytes go from 1 to 0, over a link of the message: nothing is skipped. The message
/// waits for it from 4030 to 4060 and holds it until 5060; the bytes of 4100 are 960 late, and so
/// is place 0 from then on.
TEST(ComponentsTest, SharedLinksAreNotSkipped) {
    Workload workload = layers_beside_a_message(work(7));
    workload.schedules = {
        schedule_of({{.role = 0, .distance = -1, .bytes = 60, .to_role = 1}}, 2, {}),
        workload.schedules[1]};
    workload.placements[0] = {1, 0, kAbsent};
    const Runs runs(workload);
    EXPECT_EQ(runs.with.end, Time{10067 + 960});
    EXPECT_EQ(runs.with.played_events, runs.with.events);
}

}  // namespace
}  // namespace podsim::sim
