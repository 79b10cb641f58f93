// Observers that do not watch hops: they are notified of
// tasks, and at intervals of the progress of the run.
#include "sim/workload/observer.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

class Coarse : public Observer {
public:
    [[nodiscard]] bool watches_hops() const override { return false; }
    void reached(const Reached& reached) override {
        looks.push_back(reached);
        if (looks.size() == stop_at) {
            throw std::runtime_error("enough");
        }
    }
    void task_ended(PlaceId, TaskId, Time, Time) override { ++tasks; }
    void transfer_fired(OperationId, PlaceId, std::uint32_t, Time) override { ++hops; }
    void transfer_arrived(OperationId, PlaceId, PlaceId, std::uint32_t, Time) override { ++hops; }
    void link_held(const Holding&) override { ++hops; }

    std::size_t stop_at = 0;
    std::vector<Reached> looks;
    std::size_t tasks = 0;
    std::size_t hops = 0;
};

/// Operations follow each other. Each has 1 + 2 x 31 hops at
/// each of 8 places and ends 8 tasks: 8 x 64 = 512 events.
constexpr std::uint32_t kEventsEach = 512;
Workload operations_in_a_row(std::uint32_t operations) {
    std::vector<Send> sends(31, {.distance = 2, .bytes = 10});
    sends.push_back({.distance = -1, .bytes = 10});
    Workload workload = workload_of(row_of(8, true, {5}),
                                    {schedule_of(sends, 1, std::vector<std::uint32_t>(8))}, {});
    workload.operations.assign(operations, {.schedule = 0, .priority_class = 0});
    for (std::uint32_t i = 0; i < operations; ++i) {
        Task& task = workload.graphs[0].tasks.emplace_back(operation(i));
        if (i > 0) {
            task.after = {i - 1};
        }
    }
    return workload;
}

/// 6000 operations have 3,072,000 events. The observer is called after 2^12 events, then each time
/// a sixteenth more has been played.
TEST(ObserverTest, HearsHowFarTheRunIs) {
    const Workload workload = operations_in_a_row(6000);
    Coarse observer;
    const ExecutionResult result = execute(workload, &observer);
    const std::uint64_t all = 6000 * kEventsEach;
    EXPECT_EQ(result.events, all);
    EXPECT_EQ(result, execute(workload));
    EXPECT_EQ(observer.tasks, 8U * 6000);
    EXPECT_EQ(observer.hops, 0U);
    // 2^12 (17/16)^109 = 3,035,000. Every call comes up to an instant late, the first by 24 of
    // 4,096 events. This adds up to a few per cent, so that the last call falls beyond the end.
    ASSERT_EQ(observer.looks.size(), 1U + 108);
    std::uint64_t due = 1U << 12;
    for (const Reached& look : observer.looks) {
        // A call comes at the first instant that ends beyond its number of events. An instant of
        // this run has at most a hop for each link and a task for each place.
        EXPECT_GE(look.events, due);
        EXPECT_LE(look.events, due + 16 + 8);
        due = look.events + std::min<std::uint64_t>(look.events / 16, 1U << 18);
        EXPECT_EQ(look.all_events, all);
        EXPECT_EQ(look.played, look.events);  // no layers are skipped
        EXPECT_TRUE(look.links.empty());      // the observer counts no links
        // Operations are alike and take the same time, one after the other.
        EXPECT_NEAR(look.now.seconds() / result.end.seconds(),
                    static_cast<double>(look.events) / static_cast<double>(all), 1.0 / 6000);
    }
}

/// Nine operations have 4,608 events, seven 3,584: a run
/// of a fraction of a millisecond can be stopped too.
TEST(ObserverTest, HearsOfSmallRuns) {
    Coarse seven;
    execute(operations_in_a_row(7), &seven);
    EXPECT_EQ(seven.looks.size(), 0U);
    Coarse nine;
    execute(operations_in_a_row(9), &nine);
    EXPECT_EQ(nine.looks.size(), 2U);  // at 4,096 and 4,352
}

TEST(ObserverTest, EndsTheRun) {
    const Workload workload = operations_in_a_row(9);
    Coarse observer;
    observer.stop_at = 1;
    EXPECT_THROW(execute(workload, &observer), std::runtime_error);
    EXPECT_EQ(observer.looks.size(), 1U);
    EXPECT_EQ(observer.tasks, 8U * 8);  // the ninth operation goes on
}

class CountsLinks : public Coarse {
public:
    [[nodiscard]] bool counts_links() const override { return true; }
    void reached(const Reached& reached) override {
        std::int64_t all = 0;
        for (const LinkTotals& link : reached.links) {
            all += link.carried_units;
        }
        carried.push_back(all);
        Coarse::reached(reached);
    }

    std::vector<std::int64_t> carried;
};

/// A call brings the bytes that links have carried so far. Hops are alike on average, so that the
/// bytes grow as the events do.
TEST(ObserverTest, HearsWhatLinksHaveCarried) {
    const Workload workload = operations_in_a_row(100);
    CountsLinks observer;
    const ExecutionResult result = execute(workload, &observer);
    std::int64_t all = 0;
    for (const LinkTotals& link : result.links) {
        all += link.carried_units;
    }
    ASSERT_GT(observer.carried.size(), 30U);
    for (std::size_t i = 0; i < observer.carried.size(); ++i) {
        EXPECT_NEAR(
            static_cast<double>(observer.carried[i]) / static_cast<double>(all),
            static_cast<double>(observer.looks[i].events) / static_cast<double>(result.events),
            1.0 / 100);
    }
}

/// Skipped events are not played and bring no call nearer: 400 alike operations have 204,800
/// events, of which a few layers are played.
TEST(ObserverTest, CountsWhatIsPlayed) {
    Workload workload = operations_in_a_row(400);
    for (std::uint32_t i = 0; i < 400; ++i) {
        workload.graphs[0].marks.push_back(i);
    }
    Coarse observer;
    const ExecutionResult result = execute(workload, &observer);
    EXPECT_EQ(result.events, 400 * kEventsEach);
    EXPECT_LT(result.played_events, 8 * kEventsEach);
    EXPECT_EQ(observer.tasks, 8U * 400);
    EXPECT_EQ(observer.looks.size(), 0U);
}

}  // namespace
}  // namespace podsim::sim
