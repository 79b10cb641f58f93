// Reuse alone: a run is played by hand on a state, and what is skipped is counted by hand.
#include "sim/reuse/reuse.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

#include "sim/reuse/repeats_possible.h"
#include "tests/sim/kernel_support.h"

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

/// Tasks of work on one resource of one place, each a mark.
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

/// Plays that by hand, task by task.
class ByHand {
public:
    explicit ByHand(const Workload& workload, Observer* observer = nullptr)
        : state(workload, observer), reuse(state) {
        start(0);
    }
    /// The next task ends. Whether something was skipped.
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

/// Ten tasks of 100: at 200, when the second has ended, the state is that of 100. Task 2 runs; its image may be one of
/// the tasks up to 8, which alone have a successor one task on: six repeats of one task.
TEST(ReuseTest, SkipsToTheLastImage) {
    RepeatRecorder seen;
    const Workload workload = tasks_in_a_row(std::vector<std::int64_t>(10, 100));
    ByHand run(workload, &seen);
    EXPECT_TRUE(run.reuse.possible());
    EXPECT_FALSE(run.end_next());
    EXPECT_TRUE(run.end_next());
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({900}, 8)}));
    EXPECT_EQ(run.reuse.last_skip().later_by, Time{600});
    EXPECT_EQ(run.reuse.last_skip().tasks, 6U);
    EXPECT_EQ(run.reuse.last_skip().operations, 0U);
    EXPECT_EQ(run.reuse.skipped_events(), 6U);
    EXPECT_EQ(run.state.result.events, 8U);
    EXPECT_EQ(run.state.open_tasks, 2U);
    EXPECT_EQ(run.state.now, Time{200});  // the clock stays until the next event
    for (std::uint32_t task = 0; task < 8; ++task) {
        EXPECT_EQ(run.state.task_needs[task], RunState::kTaskEnded) << task;
    }
    EXPECT_EQ(run.state.task_needs[8], 0U);
    EXPECT_EQ(run.state.task_needs[9], 1U);
    EXPECT_EQ(run.state.began[8], Time{800});
    // The observer hears of tasks 2 to 7, each 100 later than the one before, and that the last 100 until 200 repeat.
    EXPECT_EQ(seen.began,
              (std::vector<Recorder::Seen>{
                  {0, 2, 200}, {0, 3, 300}, {0, 4, 400}, {0, 5, 500}, {0, 6, 600}, {0, 7, 700}}));
    EXPECT_EQ(seen.ended,
              (std::vector<Recorder::Seen>{
                  {0, 2, 300}, {0, 3, 400}, {0, 4, 500}, {0, 5, 600}, {0, 6, 700}, {0, 7, 800}}));
    EXPECT_EQ(seen.repeats, (std::vector<RepeatRecorder::Row>{{0, 200, 100, 0, 6}}));
    // The rest is played.
    EXPECT_FALSE(run.end_next());
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({1000}, 9)}));
}

/// Task 6 takes longer, so images end with task 5: three repeats. Of the tasks from 6 on, the state repeats again when 7
/// and 8 have ended alike.
TEST(ReuseTest, StopsBeforeATaskThatDiffers) {
    std::vector<std::int64_t> durations(16, 100);
    durations[6] = 150;
    const Workload workload = tasks_in_a_row(durations);
    ByHand run(workload);
    EXPECT_FALSE(run.end_next());
    EXPECT_TRUE(run.end_next());
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({600}, 5)}));
    EXPECT_FALSE(run.end_next());  // 5, at 600
    EXPECT_FALSE(run.end_next());  // 6, at 750: the state is that of 600, but task 7 is not as 6
    EXPECT_EQ(run.state.now, Time{750});
    EXPECT_TRUE(run.end_next());  // 7, at 850: as at 750
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({1550}, 14)}));
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
    EXPECT_FALSE(
        run.end_next());  // 1, at 170: the state is that at 100, but its tasks are not the same
    EXPECT_TRUE(run.end_next());  // 2, at 270
    // Task 3 runs; its images are 5, 7 and 9, since 11 has no successor: three periods of 170.
    EXPECT_EQ(run.reuse.last_skip().tasks, 6U);
    EXPECT_EQ(run.reuse.last_skip().later_by, Time{3 * 170});
    EXPECT_EQ(run.pending, (std::vector<Event>{run.event({270 + 70 + 510}, 9)}));
}

/// Every sixth task takes 150. Tasks 2 to 5 are skipped up to the running 5; at the end of task 6 the state is that at the
/// end of task 0, six tasks before, but what has happened since is no longer known: the run goes on until 7 is as 6.
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

/// The longest period looked for is four marks: of five different tasks, none is found.
TEST(ReuseTest, LooksBackFourMarks) {
    const auto moved_at = [](int period) {
        std::vector<std::int64_t> durations;
        for (int i = 0; i < 40; ++i) {
            durations.push_back(100 + i % period);
        }
        const Workload workload = tasks_in_a_row(durations);
        ByHand run(workload);
        for (int task = 0; task < 30; ++task) {
            if (run.end_next()) {
                return task;
            }
        }
        return -1;
    };
    EXPECT_EQ(moved_at(4), 4);
    EXPECT_EQ(moved_at(5), -1);
}

/// What is due in this instant is played first.
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

/// Layers of work and an operation between two places; `change` makes one task or operation of layer 2 another.
template <class Change>
bool layers_1_and_2_are_alike(const Change& change) {
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
    return same_task(state, components, 0, 2, 4) && same_task(state, components, 0, 3, 5);
}

TEST(SameTaskTest, AnyDifferenceCounts) {
    const auto differs = [](const auto& change) { return !layers_1_and_2_are_alike(change); };
    EXPECT_FALSE(differs([](Workload&) {}));
    EXPECT_TRUE(differs([](Workload& w) { w.graphs[0].tasks[4].duration = {101}; }));
    EXPECT_TRUE(differs([](Workload& w) { w.graphs[0].tasks[5].duration = {8}; }));
    EXPECT_TRUE(differs([](Workload& w) { w.graphs[0].tasks[4].resource = 1; }));
    EXPECT_TRUE(differs([](Workload& w) { w.graphs[0].tasks[4].operation = 2; }));
    EXPECT_TRUE(differs([](Workload& w) { w.graphs[0].tasks[4].after = {1}; }));
    EXPECT_TRUE(differs([](Workload& w) { w.graphs[0].tasks[7].after = {4, 6}; }));  // a successor
    EXPECT_TRUE(differs([](Workload& w) { w.operations[2].schedule = 1; }));
    EXPECT_TRUE(differs([](Workload& w) { w.operations[2].placement = 0; }));
    EXPECT_TRUE(differs([](Workload& w) { w.operations[2].priority_class = 2; }));
}

/// Another graph takes part in the operation of layer 2, of layer 1, or of a neighbour.
TEST(SameTaskTest, SharedTasksAndTheirNeighboursNeverRepeat) {
    for (const std::uint32_t shared : {0U, 1U, 2U, 3U, 4U}) {
        const bool alike = layers_1_and_2_are_alike([shared](Workload& workload) {
            workload.graphs.push_back({{operation(shared)}});
            workload.graph_of_place = {0, 1};
        });
        // Tasks 2 to 5 follow the operations 0 to 2 and belong to 1 and 2.
        EXPECT_EQ(alike, shared > 2) << shared;
    }
}

/// Layers of 100: V (80), then C (50 bytes over a link), and beside them W (100), which ends the layer. Before the first an
/// operation holds the link until 80, and the first V takes 40: the first C begins at 40, waits and is at 100, when W has
/// ended, as far as the others, which begin 80 into their layer. So the second layer ends as the first has.
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
    EXPECT_EQ(seen.repeats, (std::vector<RepeatRecorder::Row>{{0, 200, 100, 1, 6}}));
    // Of each place's 2 events before the layers and 4 a layer. Images end before task 26, since the last W has no
    // successor; task 8 runs at 200: six repeats.
    EXPECT_EQ(played.played_events, 2U * (2 + 4 * kLayers));
    EXPECT_EQ(run.played_events, 2U * (2 + 4 * (kLayers - 6)));
}

}  // namespace
}  // namespace podsim::sim
