// The total order of pending events: by time, then in the order pushed.
#include "sim/queue/event_queue.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace podsim::sim {
namespace {

/// The reference for the queues: a list in push order,
/// searched for the first event of the earliest time.
class ReferenceQueue {
public:
    [[nodiscard]] std::size_t size() const { return events_.size(); }
    [[nodiscard]] Time last() const { return last_; }
    void push(const Event& event) { events_.push_back(event); }
    Event pop() {
        const auto first = std::ranges::min_element(events_, {}, &Event::time);
        const Event event = *first;
        events_.erase(first);
        last_ = event.time;
        return event;
    }
    void pop_instant(std::vector<Event>& instant) {
        instant = {pop()};
        while (more_of_instant()) {
            instant.push_back(pop());
        }
    }
    [[nodiscard]] bool more_of_instant() const {
        return std::ranges::count(events_, last_, &Event::time) > 0;
    }
    void skip(Time later_by, std::uint64_t add) {
        last_ += later_by;
        for (Event& event : events_) {
            event = {event.time + later_by, event.what + add};
        }
    }
    [[nodiscard]] std::vector<Event> pending() const {
        std::vector<Event> sorted = events_;
        std::ranges::stable_sort(sorted, {}, &Event::time);
        return sorted;
    }

private:
    std::vector<Event> events_;
    Time last_;
};

TEST(EventQueueTest, ByTimeThenInTheOrderPushed) {
    EventQueue queue;
    EXPECT_TRUE(queue.empty());
    queue.push({Time{5}, 1});
    queue.push({Time{3}, 2});
    queue.push({Time{5}, 0});
    queue.push({Time{3}, 4});
    EXPECT_EQ(queue.size(), 4U);
    std::vector<Event> popped;
    while (!queue.empty()) {
        popped.push_back(queue.pop());
    }
    EXPECT_EQ(popped, (std::vector<Event>{{Time{3}, 2}, {Time{3}, 4}, {Time{5}, 1}, {Time{5}, 0}}));
}

/// A push at the time last popped belongs to the current instant, behind the events there.
TEST(EventQueueTest, AnInstantGoesOn) {
    EventQueue queue;
    queue.push({Time{7}, 1});
    queue.push({Time{1000}, 2});
    queue.push({Time{7}, 3});
    std::vector<Event> instant;
    queue.pop_instant(instant);
    EXPECT_EQ(instant, (std::vector<Event>{{Time{7}, 1}, {Time{7}, 3}}));
    EXPECT_FALSE(queue.more_of_instant());
    queue.push({Time{7}, 4});
    EXPECT_TRUE(queue.more_of_instant());
    queue.pop_instant(instant);
    EXPECT_EQ(instant, (std::vector<Event>{{Time{7}, 4}}));
    EXPECT_FALSE(queue.more_of_instant());
    EXPECT_EQ(queue.pop(), (Event{Time{1000}, 2}));
}

TEST(EventQueueTest, ToTheEndOfTime) {
    EventQueue queue;
    queue.push({Time::max(), 1});
    queue.push({Time{0}, 2});
    queue.push({Time::max(), 3});
    EXPECT_EQ(queue.pop(), (Event{Time{0}, 2}));
    EXPECT_EQ(queue.pop(), (Event{Time::max(), 1}));
    queue.push({Time::max(), 4});
    EXPECT_EQ(queue.pop(), (Event{Time::max(), 3}));
    EXPECT_EQ(queue.pop(), (Event{Time::max(), 4}));
    EXPECT_TRUE(queue.empty());
}

/// Returns the next delay: few distinct ones, many, ties
/// at the same instant, and steps over every power of two.
std::int64_t random_delay(std::mt19937_64& random, std::uint64_t seed) {
    switch (seed % 4) {
        case 0:
            return static_cast<std::int64_t>(random() % 3) * 70;
        case 1:
            return static_cast<std::int64_t>(random() % 1000);
        case 2:
            return std::int64_t{1} << (random() % 41);
        default:
            return static_cast<std::int64_t>(random() >> (24 + random() % 40));
    }
}

TEST(EventQueueTest, RandomTurnsPopTheSameSequence) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        EventQueue queue;
        ReferenceQueue reference;
        std::vector<Event> instant;
        std::vector<Event> expected;
        for (std::uint64_t turn = 0; turn < 600; ++turn) {
            const std::uint64_t choice = random() % 100;
            if (choice < 55) {
                const Event event{reference.last() + Time{random_delay(random, seed)}, turn};
                queue.push(event);
                reference.push(event);
            } else if (reference.size() == 0) {
                ASSERT_TRUE(queue.empty());
            } else if (choice < 90) {
                ASSERT_EQ(queue.pop(), reference.pop());
            } else if (choice < 98) {
                queue.pop_instant(instant);
                reference.pop_instant(expected);
                ASSERT_EQ(instant, expected);
            } else {
                const Time later{random_delay(random, seed)};
                queue.skip(later, [](std::uint64_t what) { return what + 1000; });
                reference.skip(later, 1000);
            }
            ASSERT_EQ(queue.size(), reference.size());
            ASSERT_EQ(queue.more_of_instant(), reference.more_of_instant());
            if (turn % 50 == 0) {
                std::vector<Event> pending = queue.pending();
                std::ranges::stable_sort(pending, {}, &Event::time);
                ASSERT_EQ(pending, reference.pending());
            }
        }
        while (reference.size() > 0) {
            ASSERT_EQ(queue.pop(), reference.pop());
        }
        ASSERT_TRUE(queue.empty());
    }
}

/// The queue grows to thousands, stays and shrinks to nothing, with times that become dense, sparse
/// and dense again and thousands of ties. A fully sorted list is the reference.
TEST(EventQueueTest, ThousandsComeAndGo) {
    constexpr std::uint64_t kMost = 6000;
    std::mt19937_64 random(2024);
    EventQueue queue;
    std::vector<Event> pushed;
    std::vector<Event> popped;
    const auto push = [&](std::int64_t delay) {
        const Time last = popped.empty() ? Time{} : popped.back().time;
        pushed.push_back({last + Time{delay}, pushed.size()});
        queue.push(pushed.back());
    };
    const auto pop = [&] { popped.push_back(queue.pop()); };
    for (const std::int64_t spread : {1'000'000'000LL, 3LL, 40'000'000'000'000LL, 1LL, 900LL}) {
        const auto delay = [&] {
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread)) *
                   (random() % 10 == 0 ? 10'000 : 1);
        };
        for (std::uint64_t i = 0; i < kMost; ++i) {
            push(delay());
        }
        for (std::uint64_t i = 0; i < 3 * kMost; ++i) {
            pop();
            push(delay());
        }
        // The last event comes after days and years without events.
        push(std::int64_t{1} << 55);
        for (std::uint64_t i = spread == 3 ? 50 : 0; i < kMost + 1; ++i) {
            pop();
        }
    }
    while (!queue.empty()) {
        pop();
    }
    std::ranges::stable_sort(pushed, {}, &Event::time);
    EXPECT_EQ(popped, pushed);
}

}  // namespace
}  // namespace podsim::sim
