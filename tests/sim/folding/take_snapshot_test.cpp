// Equality of states: a state is made by hand in one layer, and again one layer later.
#include "sim/folding/take_snapshot.h"

#include <functional>
#include <gtest/gtest.h>
#include <vector>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

constexpr std::uint32_t kPlaces = 3;

/// Layers of work and an operation on a ring: a transfer
/// over two links, one over one, and one that needs both.
Workload layers() {
    constexpr std::uint32_t kLayers = 10;
    const Schedule schedule =
        schedule_of({{.distance = 2, .bytes = 400}, {.bytes = 90}, {.bytes = 10, .after = {0, 1}}},
                    1, std::vector<std::uint32_t>(kPlaces));
    Workload workload = workload_of(row_of(kPlaces, true, {30}), {schedule}, {});
    workload.operations.assign(kLayers, {.schedule = 0, .priority_class = 0});
    TaskGraph& graph = workload.graphs[0];
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
        graph.marks.push_back(2 * layer);
        graph.tasks.push_back(work(100));
        graph.tasks.push_back(operation(layer));
        graph.tasks.back().after = {2 * layer};
    }
    return workload;
}

/// The work of a layer has just ended everywhere, at 1000 + 300 layer, and its operation has begun
/// at places 0 and 1. One message is between its links, two wait, and two more events are pending.
struct Scene {
    explicit Scene(const Workload& workload, std::uint32_t its_layer)
        : layer(its_layer), state(workload, nullptr), components(state) {
        state.keep_when_tasks_begin();
        state.now = Time{1000 + 300 * std::int64_t{layer}};
        state.instant_number = 17 + 5 * layer;
        for (std::uint32_t place = 0; place < kPlaces; ++place) {
            for (std::uint32_t task = 0; task <= 2 * layer; ++task) {
                state.task_needs[state.index_of(place, task)] = RunState::kTaskEnded;
            }
            for (std::uint32_t task = 2 * layer + 1; task <= 2 * layer + 2; ++task) {
                state.task_needs[state.index_of(place, task)] = 0;
                state.began[state.index_of(place, task)] = state.now;
            }
        }
        state.open(layer);
        LiveOperation& open = state.operations[layer];
        open.task.assign(kPlaces, 2 * layer + 1);
        open.places[0].early = open.places[1].early = PlaceState::kStarted;
        open.early = {{.first = {.transfer = 2}, .next = PlaceState::kNone},
                      {.first = {.transfer = 1}, .next = 0}};
        open.places[2].early = 1;
        history.lowest_open.assign(kPlaces, 2 * layer + 1);
        history.highest_touched = 2 * layer + 2;

        state.servers.at(0).hold(state.now, state.now + Time{50}, 0);
        wait(0, 1, 0);
        wait(0, 0, 1);
        state.servers.at(0).set_free_event_due();
        message = state.messages.add(
            {.tail_arrival = state.now + Time{70}, .operation = layer, .transfer = 0, .hop = 1});
        state.messages.join(message);
        pending = {{state.now + Time{50}, EventCodec::of(EventKind::link_free, 0)},
                   {state.now + Time{30},
                    EventCodec::of(EventKind::head_arrived, message) | EventCodec::of_source(1)},
                   arrival(20, layer, 2, 1),
                   {state.now + Time{100},
                    state.codec.of(EventKind::task_ended,
                                   {.number = 2 * layer + 2, .place = 0, .transfer = 0})}};
    }
    void wait(std::size_t server, std::uint32_t transfer, std::uint32_t source) {
        const TransferPath& path = state.tables[0].paths[transfer];
        state.servers.at(server).add(
            {state.order_of(layer, path.phase, state.instant_number), transfer, source},
            [this](const Waiting& a, const Waiting& b) { return state.goes_before(a, b); });
    }
    [[nodiscard]] Event arrival(std::int64_t in, std::uint32_t operation, std::uint32_t source,
                                std::uint32_t transfer) const {
        return {state.now + Time{in},
                state.codec.of(EventKind::transfer_arrived,
                               {.number = operation, .place = source, .transfer = transfer})};
    }
    [[nodiscard]] Snapshot snapshot() const {
        return take_snapshot(state, components, 0, history, 2 * layer, pending);
    }

    std::uint32_t layer;
    RunState state;
    Components components;
    History history;
    std::vector<Event> pending;
    std::uint32_t message = 0;
};

TEST(TakeSnapshotTest, TheSameALayerOnIsAnImage) {
    const Workload workload = layers();
    const Scene first(workload, 3);
    const Scene second(workload, 4);
    const Snapshot snapshot = first.snapshot();
    EXPECT_EQ(snapshot.mark, 6U);
    EXPECT_EQ(snapshot.now, Time{1900});
    EXPECT_EQ(snapshot.lowest_open, 7U);
    EXPECT_EQ(snapshot.tasks, (std::vector<std::uint32_t>{7, 8}));
    EXPECT_EQ(snapshot.needs.size(), 2U * kPlaces);
    EXPECT_EQ(snapshot.links.size(), 2U * kPlaces);
    EXPECT_TRUE(second.snapshot().is_image_of(snapshot));
}

/// True if the second scene is still an image of the first after a change.
bool still_equal(const std::function<void(Scene&)>& change) {
    const Workload workload = layers();
    const Scene first(workload, 3);
    Scene second(workload, 4);
    change(second);
    return second.snapshot().is_image_of(first.snapshot());
}

TEST(TakeSnapshotTest, OperationsCount) {
    EXPECT_TRUE(still_equal([](Scene&) {}));
    EXPECT_FALSE(still_equal([](Scene& s) { --s.state.operations[s.layer].counters[1]; }));
    EXPECT_FALSE(still_equal([](Scene& s) { --s.state.operations[s.layer].places[2].pending; }));
    EXPECT_FALSE(still_equal(
        [](Scene& s) { s.state.operations[s.layer].places[2].early = PlaceState::kStarted; }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.state.operations[s.layer].places[2].early = 0; }));
    EXPECT_FALSE(
        still_equal([](Scene& s) { s.state.operations[s.layer].early[0].first.transfer = 0; }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.state.operations[s.layer].task[1] = kNoTask; }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.state.open(s.layer + 1); }));
    // Early arrivals fire in one instant, in no defined order.
    EXPECT_TRUE(still_equal([](Scene& s) {
        LiveOperation& open = s.state.operations[s.layer];
        std::swap(open.early[0].first, open.early[1].first);
    }));
}

TEST(TakeSnapshotTest, LinksCount) {
    EXPECT_FALSE(still_equal(
        [](Scene& s) { s.state.servers.at(0).hold(s.state.now, s.state.now + Time{51}, 0); }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.state.servers.at(0).unlist(); }));  // no event is due
    EXPECT_FALSE(still_equal([](Scene& s) { s.wait(1, 0, 1); }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.state.servers.at(0).take_first(); }));
    // The time since a link became free, its carried bytes, and the arrival times of waiting
    // messages do not matter.
    EXPECT_TRUE(still_equal([](Scene& s) {
        s.state.servers.at(2).hold(Time{10}, Time{20}, 77);
        s.state.servers.at(3).hold(Time{10}, s.state.now, 77);
    }));
    EXPECT_FALSE(still_equal(
        [](Scene& s) { s.state.servers.at(2).hold(s.state.now, s.state.now + Time{1}, 0); }));
}

TEST(TakeSnapshotTest, WhatWaitsCountsInItsTurn) {
    const auto with = [](std::uint32_t transfer, std::uint32_t source) {
        return [=](Scene& s) {
            s.state.servers.at(0).take_first();
            s.state.servers.at(0).take_first();
            // Adds the messages in the opposite order, one of them perhaps another.
            s.wait(0, transfer, source);
            s.wait(0, 1, 0);
        };
    };
    EXPECT_TRUE(still_equal(with(0, 1)));
    EXPECT_FALSE(still_equal(with(0, 2)));
    EXPECT_FALSE(still_equal(with(2, 1)));
}

/// Three messages wait in the order of their phases: the head of a row, which came at instant 5,
/// and two that came at the given instants. Those behind the head may be of any phase.
Snapshot row_beside(std::uint32_t its_layer, std::uint64_t of_one, std::uint64_t of_two) {
    Workload workload = layers();
    Schedule schedule = workload.schedules[0];
    for (std::uint32_t transfer = 0; transfer < 3; ++transfer) {
        schedule.transfers[transfer].phase = transfer;
    }
    workload.schedules = {schedule};
    Scene scene(workload, its_layer);
    const auto add = [&](std::uint32_t transfer, std::uint64_t instant, std::uint32_t flags) {
        scene.state.servers.at(1).add(
            {scene.state.order_of(its_layer, transfer, instant), transfer | flags, transfer},
            [&](const Waiting& a, const Waiting& b) { return scene.state.goes_before(a, b); });
    };
    add(0, 5, Waiting::kMoreBehind);
    add(1, of_one, 0);
    add(2, of_two, 0);
    return scene.snapshot();
}

TEST(TakeSnapshotTest, WhatCameBeforeTheHeadOfARowCounts) {
    const Snapshot first = row_beside(3, 4, 7);
    EXPECT_TRUE(row_beside(4, 3, 9).is_image_of(first));
    // In `first` one came before the head and two after it; in these they did not.
    EXPECT_FALSE(row_beside(4, 7, 4).is_image_of(first));
    EXPECT_FALSE(row_beside(4, 4, 5).is_image_of(first));
    EXPECT_FALSE(row_beside(4, 3, 4).is_image_of(first));
    EXPECT_FALSE(row_beside(4, 6, 7).is_image_of(first));
}

TEST(TakeSnapshotTest, PendingEventsCount) {
    EXPECT_TRUE(still_equal([](Scene& s) { std::swap(s.pending[0], s.pending[3]); }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.pending.pop_back(); }));
    // pending[0] is a link that becomes free, which the state of the link determines.
    for (std::size_t event = 1; event < 4; ++event) {
        EXPECT_FALSE(still_equal([event](Scene& s) { s.pending[event].time += Time{1}; })) << event;
    }
    EXPECT_FALSE(still_equal([](Scene& s) { s.pending[2] = s.arrival(20, s.layer + 1, 2, 1); }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.pending[2] = s.arrival(20, s.layer, 1, 1); }));
    EXPECT_FALSE(still_equal([](Scene& s) { s.pending[2] = s.arrival(20, s.layer, 2, 0); }));
}

TEST(TakeSnapshotTest, MessagesUnderWayCount) {
    const auto changed = [](const std::function<void(Message&)>& change) {
        return still_equal([&](Scene& s) { s.state.messages.for_each(change); });
    };
    EXPECT_FALSE(changed([](Message& m) { m.tail_arrival += Time{1}; }));
    EXPECT_FALSE(still_equal([](Scene& s) {
        s.pending[1].what =
            EventCodec::of(EventKind::head_arrived, s.message) | EventCodec::of_source(0);
    }));
    EXPECT_FALSE(changed([](Message& m) { m.transfer = 1; }));
    EXPECT_FALSE(changed([](Message& m) { m.hop = 2; }));
    EXPECT_FALSE(changed([](Message& m) { ++m.operation; }));
}

TEST(TakeSnapshotTest, TasksCount) {
    const auto at = [](const Scene& s, std::uint32_t place, std::uint32_t further) {
        return s.state.index_of(place, 2 * s.layer + further);
    };
    EXPECT_FALSE(still_equal([&](Scene& s) { s.state.task_needs[at(s, 1, 2)] = 1; }));
    EXPECT_FALSE(
        still_equal([&](Scene& s) { s.state.task_needs[at(s, 1, 1)] = RunState::kTaskEnded; }));
    // The begin of a running task does not matter.
    EXPECT_TRUE(still_equal([&](Scene& s) { s.state.began[at(s, 1, 2)] -= Time{1}; }));
    // The begin of a task that does not run is unknown.
    EXPECT_TRUE(still_equal([&](Scene& s) { s.state.began[at(s, 1, 3)] = Time{5}; }));
    EXPECT_FALSE(still_equal([](Scene& s) { --s.history.lowest_open[1]; }));
    // A task beyond the last touched one must be as at the beginning.
    EXPECT_FALSE(still_equal([&](Scene& s) {
        s.history.highest_touched += 1;
        --s.state.task_needs[at(s, 2, 3)];
    }));
    EXPECT_TRUE(still_equal([](Scene& s) { s.history.highest_touched += 1; }));
}

}  // namespace
}  // namespace podsim::sim
