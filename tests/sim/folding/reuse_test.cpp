// Reuse alone: a run is played by hand on a state, and skipped tasks are counted by hand.
#include "sim/folding/reuse.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

#include "sim/folding/repeats_possible.h"
#include "tests/sim/folding/skipped_runs.h"

namespace podsim::sim {
namespace {

class RepeatRecorder : public Recorder {
public:
    using Row = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::uint32_t, std::uint32_t>;
    std::vector<Row> repeats;
    void repeated(std::uint32_t graph, Time from, Time span, std::uint32_t operations,
                  std::uint32_t times) override {
        repeats.emplace_back(graph, from.ps, span.ps, operations, times);
    }
};

/// Tasks of work on one resource of one place; each is a mark.
Workload tasks_in_a_row(const std::vector<std::int64_t>& durations) {
    std::vector<Task> tasks;
    for (const std::int64_t duration : durations) {
        tasks.push_back(work(duration));
    }
    Workload workload = workload_of(row_of(1, false, {0}), {}, tasks);
    for (std::uint32_t task = 0; task < tasks.size(); ++task) {
        workload.graphs[0].marks.push_back(task);
    }
    return workload;
}

/// Plays such a workload by hand, task by task.
class ByHand {
public:
    explicit ByHand(const Workload& workload, Observer* observer = nullptr)
        : state(workload, observer), reuse(state) {
        start(0);
    }
    /// Ends the next task; true if tasks were skipped.
    bool end_next() {
        const Event event = pending.front();
        pending.clear();
        state.now = event.time;
        const std::uint32_t task = state.codec.fields(event.what).number;
        ++state.result.events;
        --state.open_tasks;
        state.task_needs[task] = RunState::kTaskEnded;
        reuse.task_ended(0, task);
        if (task + 1 < state.task_needs.size()) {
            reuse.touch(0, task + 1);
            --state.task_needs[task + 1];
            start(task + 1);
        }
        EXPECT_TRUE(reuse.mark_reached());
        const bool moved = reuse.skip_repeats(pending);
        EXPECT_FALSE(reuse.mark_reached());
        return moved;
    }
    void start(std::uint32_t task) {
        reuse.touch(0, task);
        state.began[task] = state.now;
        pending = {event(state.now + state.workload.graphs[0].tasks[task].duration, task)};
    }
    [[nodiscard]] Event event(Time time, std::uint32_t task) const {
        return {time,
                state.codec.of(EventKind::task_ended, {.number = task, .place = 0, .transfer = 0})};
    }

    RunState state;
    Reuse reuse;
    std::vector<Event> pending;
};

/// Ten tasks of 100: at 200, when the second has ended, the state is
/// that of 100. Task 2 runs. Its image may be any task, even the last,
/// which has no successor as long as it runs: seven repeats of one task.
TEST(ReuseTest, SkipsToTheLastImage) {
    RepeatRecorder seen;
    const Workload workload = tasks_in_a_row(std::vector<std::int64_t>(10, 100));
    ByHand run(workload, &seen);
    EXPECT_TRUE(run.reuse.possible());
    EXPECT_FALSE(run.end_next());
    EXPECT_TRUE(run.end_next());
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({1000}, 9)}));
    EXPECT_EQ(run.reuse.last_skip().later_by, Time{700});
    EXPECT_EQ(run.reuse.last_skip().tasks, 7U);
    EXPECT_EQ(run.reuse.last_skip().operations, 0U);
    EXPECT_EQ(run.reuse.skipped_events(), 7U);
    EXPECT_EQ(run.state.result.events, 9U);
    EXPECT_EQ(run.state.open_tasks, 1U);
    EXPECT_EQ(run.state.now, Time{200});  // the clock stays until the next event
    for (std::uint32_t task = 0; task < 9; ++task) {
        EXPECT_EQ(run.state.task_needs[task], RunState::kTaskEnded) << task;
    }
    EXPECT_EQ(run.state.task_needs[9], 0U);
    EXPECT_EQ(run.state.began[9], Time{900});
    // The observer is notified of tasks 2 to 8, each 100 later than the one before, and that the
    // last 100 until 200 repeat.
    std::vector<Recorder::Seen> began;
    std::vector<Recorder::Seen> ended;
    for (std::uint32_t task = 2; task < 9; ++task) {
        began.push_back({0, task, 100 * task});
        ended.push_back({0, task, 100 * task + 100});
    }
    EXPECT_EQ(seen.began, began);
    EXPECT_EQ(seen.ended, ended);
    EXPECT_EQ(seen.repeats, (std::vector<RepeatRecorder::Row>{{0, 200, 100, 0, 7}}));
    // The rest is played.
    EXPECT_FALSE(run.end_next());
    EXPECT_EQ(run.state.now, Time{1000});
    EXPECT_EQ(run.state.open_tasks, 0U);
}

/// Task 6 takes longer, so images end with task 5: three repeats. From task 6 on the state repeats
/// again when 7 and 8 have ended alike.
TEST(ReuseTest, StopsBeforeATaskThatDiffers) {
    std::vector<std::int64_t> durations(16, 100);
    durations[6] = 150;
    const Workload workload = tasks_in_a_row(durations);
    ByHand run(workload);
    EXPECT_FALSE(run.end_next());
    EXPECT_TRUE(run.end_next());
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({600}, 5)}));
    EXPECT_FALSE(run.end_next());  // 5, at 600
    EXPECT_FALSE(run.end_next());  // 6, at 750: the state is that of 600, but task 7 differs from 6
    EXPECT_EQ(run.state.now, Time{750});
    EXPECT_TRUE(run.end_next());  // 7, at 850: as at 750
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({1650}, 15)}));
}

/// Layers that alternate between 100 and 70 repeat with a period of two marks.
TEST(ReuseTest, FindsAPeriodOfTwoMarks) {
    std::vector<std::int64_t> durations;
    for (int i = 0; i < 12; ++i) {
        durations.push_back(i % 2 == 0 ? 100 : 70);
    }
    const Workload workload = tasks_in_a_row(durations);
    ByHand run(workload);
    EXPECT_FALSE(run.end_next());  // 0, at 100
    EXPECT_FALSE(run.end_next());  // 1, at 170: the state is that at 100, but its tasks differ
    EXPECT_TRUE(run.end_next());   // 2, at 270
    // Task 3 runs; its images are 5, 7, 9 and 11: four periods of 170.
    EXPECT_EQ(run.reuse.last_skip().tasks, 8U);
    EXPECT_EQ(run.reuse.last_skip().later_by, Time{4 * 170});
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({270 + 70 + 680}, 11)}));
}

/// Every sixth task takes 150. Tasks 2 to 5 are skipped up to the running 5. At the end of task 6
/// the state is that at the end of task 0, six tasks before, but the record of the time between is
/// gone: the run goes on until 7 is as 6.
TEST(ReuseTest, ForgetsWhatWasBeforeASkip) {
    std::vector<std::int64_t> durations;
    for (int i = 0; i < 30; ++i) {
        durations.push_back(i % 6 == 0 ? 150 : 100);
    }
    const Workload workload = tasks_in_a_row(durations);
    ByHand run(workload);
    EXPECT_FALSE(run.end_next());  // 0
    EXPECT_TRUE(run.end_next());   // 1
    EXPECT_EQ(run.reuse.last_skip().tasks, 3U);
    EXPECT_FALSE(run.end_next());  // 5
    EXPECT_FALSE(run.end_next());  // 6
    EXPECT_TRUE(run.end_next());   // 7
    EXPECT_EQ(run.reuse.last_skip().tasks, 3U);
    EXPECT_EQ(run.state.result.events, 5U + 3 + 3);
}

/// The longest period searched is 32 marks: none is found for 33 different tasks.
TEST(ReuseTest, LooksBack32Marks) {
    const auto moved_at = [](int period) {
        std::vector<std::int64_t> durations;
        for (int i = 0; i < 150; ++i) {
            durations.push_back(100 + i % period);
        }
        const Workload workload = tasks_in_a_row(durations);
        ByHand run(workload);
        for (int task = 0; task < 140; ++task) {
            if (run.end_next()) {
                return task;
            }
        }
        return -1;
    };
    EXPECT_EQ(moved_at(32), 32);
    EXPECT_EQ(moved_at(33), -1);
}

/// Other events of the instant are played first.
TEST(ReuseTest, WaitsForTheEndOfTheInstant) {
    const Workload workload = tasks_in_a_row(std::vector<std::int64_t>(10, 100));
    RunState state(workload, nullptr);
    Reuse reuse(state);
    state.now = Time{100};
    state.task_needs[0] = RunState::kTaskEnded;
    reuse.task_ended(0, 0);
    std::vector<Event> pending{
        {Time{100},
         state.codec.of(EventKind::task_ended, {.number = 1, .place = 0, .transfer = 0})}};
    EXPECT_FALSE(reuse.skip_repeats(pending));
    EXPECT_TRUE(reuse.mark_reached());
    pending[0].time = Time{101};
    EXPECT_FALSE(reuse.skip_repeats(pending));
    EXPECT_FALSE(reuse.mark_reached());
}

TEST(ReuseTest, NeedsMarks) {
    Workload workload = tasks_in_a_row({100, 100});
    workload.graphs[0].marks.clear();
    RunState state(workload, nullptr);
    EXPECT_TRUE(state.began.empty());
    EXPECT_FALSE(Reuse(state).possible());
}

/// Layers of work and an operation between two places;
/// `change` modifies one task or operation of layer 2.
struct Alike {
    bool begin;
    bool same;
    bool operator==(const Alike&) const = default;
};
template <class Change>
Alike layers_1_and_2(const Change& change) {
    const Schedule schedule = schedule_of({{.bytes = 60}}, 1, {0, 0});
    Workload workload = workload_of(row_of(2, true, {0}), {schedule, schedule}, {});
    workload.operations.assign(5, {.schedule = 0, .priority_class = 3});
    workload.placements = {{0, 0}};
    std::vector<Task>& tasks = workload.graphs[0].tasks;
    for (std::uint32_t layer = 0; layer < 5; ++layer) {
        tasks.push_back(work(
            100, 0,
            layer == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{2 * layer - 1}));
        tasks.push_back(operation(layer, {7}));
        tasks.back().after = {2 * layer};
    }
    change(workload);
    const RunState state(workload, nullptr);
    const Components components(state);
    const bool begin =
        begin_alike(state, components, 0, 2, 4) && begin_alike(state, components, 0, 3, 5);
    const bool same =
        same_task(state, components, 0, 2, 4) && same_task(state, components, 0, 3, 5);
    EXPECT_TRUE(begin || !same);
    return {begin, same};
}

TEST(SameTaskTest, AnyDifferenceCounts) {
    constexpr Alike kAll{.begin = true, .same = true};
    constexpr Alike kNone{.begin = false, .same = false};
    const auto with = [](const auto& change) { return layers_1_and_2(change); };
    EXPECT_EQ(with([](Workload&) {}), kAll);
    EXPECT_EQ(with([](Workload& w) { w.graphs[0].tasks[4].duration = {101}; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.graphs[0].tasks[5].duration = {8}; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.graphs[0].tasks[4].demand = 1; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.graphs[0].tasks[4].resource = 1; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.graphs[0].tasks[4].operation = 2; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.graphs[0].tasks[4].after = {1}; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.operations[2].schedule = 1; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.operations[2].placement = 0; }), kNone);
    EXPECT_EQ(with([](Workload& w) { w.operations[2].priority_class = 2; }), kNone);
    // Successors count only when the tasks end.
    EXPECT_EQ(with([](Workload& w) {
                  w.graphs[0].tasks[7].after = {4, 6};
              }),
              (Alike{.begin = true, .same = false}));
}

/// Another graph takes part in the operation of layer 2, of layer 1, or of a neighbour.
TEST(SameTaskTest, SharedTasksAndTheirNeighboursNeverRepeat) {
    for (const std::uint32_t shared : {0U, 1U, 2U, 3U, 4U}) {
        const Alike alike = layers_1_and_2([shared](Workload& workload) {
            workload.graphs.push_back({{operation(shared)}});
            workload.graph_of_place = {0, 1};
        });
        // Tasks 2 to 5 follow the operations 0 to 2 and belong to 1 and 2.
        EXPECT_EQ(alike.same, shared > 2) << shared;
        EXPECT_EQ(alike.begin, shared > 2) << shared;
    }
    // An operation of another graph only follows layer 2.
    const Alike alike = layers_1_and_2([](Workload& workload) {
        workload.operations.push_back({.schedule = 0, .priority_class = 3});
        std::vector<Task>& tasks = workload.graphs[0].tasks;
        tasks.push_back(operation(5));
        tasks.back().after = {5};
        workload.graphs.push_back({{operation(5)}});
        workload.graph_of_place = {0, 1};
    });
    EXPECT_EQ(alike, (Alike{.begin = true, .same = false}));
}

/// Twelve layers have work A and B of 100, on two resources: B runs beside the next layer's A, and
/// the A after that follows it. Two tasks follow the last layer.
Workload layers_that_lead_elsewhere() {
    constexpr std::uint32_t kLayers = 12;
    Workload workload = workload_of(row_of(1, false, {0}), {}, {});
    std::vector<Task>& tasks = workload.graphs[0].tasks;
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
        const std::uint32_t first = 2 * layer;
        const std::vector<std::uint32_t> b = {first - 3};
        tasks.push_back(work(100, 0, layer < 2 ? std::vector<std::uint32_t>{} : b));
        tasks.push_back(work(100, 1, {first}));
        workload.graphs[0].marks.push_back(first);
    }
    tasks.push_back(work(30, 2, {2 * kLayers - 1}));
    tasks.push_back(work(7, 0, {2 * kLayers - 2, 2 * kLayers}));
    return workload;
}

/// When A of layer 2 has ended (300), the state is that of 200; one layer before, the As follow no
/// B. The image may be any layer before the last. Successors of the last A and of the B before it
/// differ from all before, but these tasks only run then: eight repeats of two tasks, of 26.
TEST(ReuseTest, WhatRunsAtTheEndMayLeadElsewhere) {
    EXPECT_EQ(played_of_the_same(layers_that_lead_elsewhere()), 26U - 8 * 2);
}

/// A task at the end follows only A of layer 5. Two repeats bring that A to run; it ends and starts
/// the task, which has ended when A of layer 6 has (700). At 800 the state is that of 700: three
/// repeats, until A of layer 11 runs.
TEST(ReuseTest, WhatEndsMustLeadToTheSame) {
    Workload workload = layers_that_lead_elsewhere();
    workload.graphs[0].tasks.push_back(work(40, 3, {10}));
    EXPECT_EQ(played_of_the_same(workload), 27U - (2 + 3) * 2);
}

/// Layers of 100 have V (80), then C (50 bytes over a link), and beside them W (100), which ends
/// the layer. Before the first an operation holds the link until 80, and the first V takes 40. The
/// first C begins at 40 and waits; at 100, when W has ended, it is as far as the others, which
/// begin 80 into their layer. So the second layer ends as the first has.
TEST(ReuseTest, WhenARunningTaskBeganDoesNotCount) {
    const std::vector<std::uint32_t> one_role(2);
    Workload workload = workload_of(
        row_of(2, true, {0}),
        {schedule_of({{.bytes = 80}}, 1, one_role), schedule_of({{.bytes = 50}}, 1, one_role)},
        {operation(0)});
    constexpr std::uint32_t kLayers = 10;
    std::vector<Task>& tasks = workload.graphs[0].tasks;
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
        const std::uint32_t first = 3 * layer + 1;
        const std::vector<std::uint32_t> after =
            layer == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{first - 2};
        tasks.push_back(work(layer == 0 ? 40 : 80, 0, after));
        tasks.push_back(work(100, 1, after));
        tasks.push_back(operation(layer + 1));
        tasks.back().after = {first};
        workload.graphs[0].marks.push_back(first + 1);
    }
    workload.operations.resize(kLayers + 1, {.schedule = 1, .priority_class = 0});
    for (std::uint32_t layer = 0; layer <= kLayers; ++layer) {
        workload.operations[layer].schedule = layer == 0 ? 0 : 1;
    }
    RepeatRecorder seen;
    Recorder expected;
    const ExecutionResult run = execute(workload, &seen, true);
    const ExecutionResult played = execute(workload, &expected, false);
    for (const auto what : {&Recorder::began, &Recorder::ended}) {
        std::ranges::sort(seen.*what);
        std::ranges::sort(expected.*what);
        EXPECT_EQ(seen.*what, expected.*what);
    }
    EXPECT_EQ(std::ranges::count(seen.began, Recorder::Seen{0, 3, 40}), 1);
    EXPECT_EQ(std::ranges::count(seen.began, Recorder::Seen{0, 6, 180}), 1);
    EXPECT_EQ(std::ranges::count(seen.began, Recorder::Seen{1, 24, 780}), 1);
    EXPECT_EQ(seen.repeats, (std::vector<RepeatRecorder::Row>{{0, 200, 100, 1, 7}}));
    // Each place has 2 events before the layers and 4 a layer. Tasks 7 to 9 run or wait at 200, and
    // end no later than the last layer's, 28 to 30, which have no successors: seven repeats.
    EXPECT_EQ(played.played_events, 2U * (2 + 4 * kLayers));
    EXPECT_EQ(run.played_events, 2U * (2 + 4 * (kLayers - 7)));
}

}  // namespace
}  // namespace podsim::sim
