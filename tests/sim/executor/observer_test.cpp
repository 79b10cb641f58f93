// Observers that do not watch hops: they hear of tasks, and now and then how far the run is.
#include "sim/workload/observer.h"

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

/// 4500 operations one after the other, of 1 + 2 x 31 hops at each of 8 places, and 4500 x 8 tasks end:
/// 8 x 4500 x 64 = 2,304,000 events, which is beyond two times 2^20 and short of three.
Workload two_million_events() {
    constexpr std::uint32_t kOperations = 4500;
    std::vector<Send> sends(31, {.distance = 2, .bytes = 10});
    sends.push_back({.distance = -1, .bytes = 10});
    Workload workload = workload_of(row_of(8, true, {5}),
                                    {schedule_of(sends, 1, std::vector<std::uint32_t>(8))}, {});
    workload.operations.assign(kOperations, {.schedule = 0, .priority_class = 0});
    for (std::uint32_t i = 0; i < kOperations; ++i) {
        Task& task = workload.graphs[0].tasks.emplace_back(operation(i));
        if (i > 0) {
            task.after = {i - 1};
        }
    }
    return workload;
}

TEST(ObserverTest, HearsHowFarTheRunIs) {
    const Workload workload = two_million_events();
    Coarse observer;
    const ExecutionResult result = execute(workload, &observer);
    EXPECT_EQ(result.events, 2'304'000U);
    EXPECT_EQ(result, execute(workload));
    EXPECT_EQ(observer.tasks, 8U * 4500);
    EXPECT_EQ(observer.hops, 0U);
    ASSERT_EQ(observer.looks.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        // At the first instant that ends beyond a multiple of 2^20; an instant of this run has at most a
        // hop a link and a task a place.
        const Reached& look = observer.looks[i];
        EXPECT_GE(look.events, (i + 1) << 20);
        EXPECT_LE(look.events, ((i + 1) << 20) + 16 + 8);
        EXPECT_EQ(look.all_events, 2'304'000U);
        // Operations are alike and take the same time, one after the other.
        EXPECT_NEAR(look.now.seconds() / result.end.seconds(),
                    static_cast<double>(look.events) / 2'304'000, 1.0 / 4500);
    }
}

TEST(ObserverTest, EndsTheRun) {
    const Workload workload = two_million_events();
    Coarse observer;
    observer.stop_at = 1;
    EXPECT_THROW(execute(workload, &observer), std::runtime_error);
    EXPECT_EQ(observer.looks.size(), 1U);
    EXPECT_LT(observer.tasks, 8U * 4500);
}

}  // namespace
}  // namespace podsim::sim
