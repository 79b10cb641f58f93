// Equality of two recorded states, by hand.
#include "sim/folding/snapshot.h"

#include <gtest/gtest.h>
#include <vector>

namespace podsim::sim {
namespace {

Snapshot snapshot(std::uint32_t mark, std::vector<std::uint32_t> tasks,
                  std::vector<std::int64_t> needs) {
    Snapshot made;
    made.mark = mark;
    made.lowest_open = mark + 1;
    made.state.push_back(4711);
    made.tasks = std::move(tasks);
    made.needs = std::move(needs);
    return made;
}

/// Two places. A period of 3 tasks later, the first task
/// still runs at one place, and the second waits at both.
const std::vector<std::int64_t> kRunning{0, Snapshot::kEnded, 1, 2};
Snapshot earlier() {
    return snapshot(10, {11, 13}, kRunning);
}
Snapshot later() {
    return snapshot(13, {14, 16}, kRunning);
}

TEST(SnapshotTest, AStateIsTheImageOfTheSameAPeriodBefore) {
    EXPECT_TRUE(later().is_image_of(earlier()));
    // The time, the bytes that links had carried and the length of the log do not matter.
    Snapshot now = later();
    now.now = Time{12345};
    now.ended_tasks = 6;
    now.links = {{.busy = Time{5}, .carried_units = 7}};
    EXPECT_TRUE(now.is_image_of(earlier()));
}

TEST(SnapshotTest, AnyDifferenceCounts) {
    Snapshot now = later();
    now.state.push_back(0);
    EXPECT_FALSE(now.is_image_of(earlier()));
    now = later();
    now.needs[2] = 2;
    EXPECT_FALSE(now.is_image_of(earlier()));
    now = later();
    now.tasks[1] = 15;  // another task, although near
    EXPECT_FALSE(now.is_image_of(earlier()));
    now = later();
    now.lowest_open = 13;
    EXPECT_FALSE(now.is_image_of(earlier()));
    now = later();
    now.mark = 14;
    EXPECT_FALSE(now.is_image_of(earlier()));
    now = later();
    now.tasks.push_back(17);
    EXPECT_FALSE(now.is_image_of(earlier()));
}

TEST(SnapshotTest, SomethingMustBeOpen) {
    const Snapshot nothing = snapshot(10, {}, {});
    EXPECT_FALSE(snapshot(13, {}, {}).is_image_of(nothing));
    // Far tasks alone do not make a period.
    EXPECT_FALSE(snapshot(13, {90}, {1}).is_image_of(snapshot(10, {90}, {1})));
}

/// A task belongs to the repeating ones if it is at most
/// a period after the last of them, or after the mark.
TEST(SnapshotTest, NearTasksFollowWithinAPeriod) {
    const Snapshot chain = snapshot(10, {11, 14, 17, 21, 22}, {});
    EXPECT_EQ(chain.near_tasks(3), 3U);
    EXPECT_EQ(chain.last_near_task(3), 17U);
    EXPECT_EQ(chain.near_tasks(4), 5U);
    EXPECT_EQ(chain.last_near_task(4), 22U);
    EXPECT_EQ(chain.near_tasks(2), 1U);
    EXPECT_EQ(snapshot(10, {13}, {}).near_tasks(3), 1U);
    EXPECT_EQ(snapshot(10, {14}, {}).near_tasks(3), 0U);
    // Tasks before the mark are near, and bring no other task nearer than the mark does.
    EXPECT_EQ(snapshot(10, {5, 13}, {}).near_tasks(3), 2U);
    EXPECT_EQ(snapshot(10, {5, 14}, {}).near_tasks(3), 1U);
}

/// Tasks far ahead (the optimizer's, which each layer's
/// gradients bring nearer) keep their numbers, and none runs.
TEST(SnapshotTest, FarTasksAreAsTheyWere) {
    const Snapshot before = snapshot(10, {11, 90}, {0, 5});
    EXPECT_TRUE(snapshot(13, {14, 90}, {0, 5}).is_image_of(before));
    EXPECT_FALSE(snapshot(13, {14, 93}, {0, 5}).is_image_of(before));
    EXPECT_FALSE(snapshot(13, {14, 90}, {0, 4}).is_image_of(before));
    const Snapshot running = snapshot(10, {11, 90}, {0, 0});
    EXPECT_FALSE(snapshot(13, {14, 90}, {0, 0}).is_image_of(running));
    // The same holds at the second of two places.
    const std::vector<std::int64_t> at_two{0, 0, 5, 0};
    EXPECT_FALSE(snapshot(13, {14, 90}, at_two).is_image_of(snapshot(10, {11, 90}, at_two)));
    const std::vector<std::int64_t> ended{0, 0, 5, Snapshot::kEnded};
    EXPECT_TRUE(snapshot(13, {14, 90}, ended).is_image_of(snapshot(10, {11, 90}, ended)));
}

}  // namespace
}  // namespace podsim::sim
