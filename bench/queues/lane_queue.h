// A queue with one first-in-first-out lane for each distinct delay, and a heap for delays beyond
// the first kLanes.
//
// The time last popped never decreases, so pushes of one delay (time - time last popped) arrive in
// the order of their times. A lane therefore needs no sorting; the earliest event is the minimum of
// the lanes' fronts.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "bench/queues/heap_queues.h"

namespace podsim::bench {

using sim::Event;
using sim::Time;

class LaneQueue {
public:
    static constexpr bool kInlinedInPlayer = false;

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

    void push(const Event& event) {
        assert(event.time >= last_ && "a push before the time last popped");
        const NumberedEvent numbered{event, next_number_++};
        ++size_;
        const Time delay = event.time - last_;
        std::size_t lane = 0;
        while (lane < lanes_in_use_ && delays_[lane] != delay) {
            ++lane;
        }
        if (lane == kLanes) {
            lane = an_empty_lane();
            if (lane == kLanes) {
                others_.push(numbered);
                return;
            }
            delays_[lane] = delay;
        } else if (lane == lanes_in_use_) {
            delays_[lane] = delay;
            ++lanes_in_use_;
        }
        if (lanes_[lane].empty()) {
            fronts_[lane] = numbered;
        }
        lanes_[lane].push_back(numbered);
    }

    Event pop() {
        const std::size_t lane = first_lane();
        --size_;
        Event first;
        if (lane == kLanes) {
            first = others_.top().event;
            others_.pop();
        } else {
            first = fronts_[lane].event;
            lanes_[lane].pop_front();
            fronts_[lane] = lanes_[lane].empty() ? kNothing : lanes_[lane].front();
        }
        last_ = first.time;
        return first;
    }
    void pop_instant(std::vector<Event>& instant) {
        instant.clear();
        do {
            instant.push_back(pop());
        } while (more_of_instant());
    }
    [[nodiscard]] bool more_of_instant() const {
        if (empty()) {
            return false;
        }
        const std::size_t lane = first_lane();
        return (lane == kLanes ? others_.top() : fronts_[lane]).event.time == last_;
    }

    [[nodiscard]] std::vector<Event> pending() const {
        std::vector<NumberedEvent> ordered = others_.all();
        for (const std::deque<NumberedEvent>& lane : lanes_) {
            ordered.insert(ordered.end(), lane.begin(), lane.end());
        }
        std::sort(ordered.begin(), ordered.end());
        std::vector<Event> events;
        events.reserve(ordered.size());
        for (const NumberedEvent& numbered : ordered) {
            events.push_back(numbered.event);
        }
        return events;
    }
    template <class Rewrite>
    void skip(Time later_by, Rewrite rewrite) {
        const std::vector<Event> events = pending();
        const Time last = last_ + later_by;
        *this = LaneQueue();
        last_ = last;
        for (const Event& event : events) {
            push({event.time + later_by, rewrite(event.what)});
        }
    }

private:
    static constexpr std::size_t kLanes = 32;
    static constexpr NumberedEvent kNothing{{Time::max(), 0}, ~std::uint64_t{0}};

    /// Returns the lane with the earliest front, or kLanes if that event is in the heap.
    [[nodiscard]] std::size_t first_lane() const {
        std::size_t first = kLanes;
        const NumberedEvent* least = others_.size() == 0 ? &kNothing : &others_.top();
        for (std::size_t lane = 0; lane < lanes_in_use_; ++lane) {
            if (fronts_[lane] < *least) {
                first = lane;
                least = &fronts_[lane];
            }
        }
        return first;
    }
    [[nodiscard]] std::size_t an_empty_lane() const {
        std::size_t lane = 0;
        while (lane < kLanes && !lanes_[lane].empty()) {
            ++lane;
        }
        return lane;
    }

    std::array<std::deque<NumberedEvent>, kLanes> lanes_;
    std::array<NumberedEvent, kLanes> fronts_{};
    std::array<Time, kLanes> delays_{};
    std::size_t lanes_in_use_ = 0;
    QuaternaryHeap others_;
    std::size_t size_ = 0;
    std::uint64_t next_number_ = 0;
    Time last_;
};

}  // namespace podsim::bench
