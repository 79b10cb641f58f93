// Heaps of numbered events. The number stores the push order, which a heap alone does not keep.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <type_traits>
#include <vector>

#include "sim/queue/event.h"

namespace podsim::bench {

using sim::Event;
using sim::Time;

struct NumberedEvent {
    Event event;
    std::uint64_t number = 0;

    friend bool operator<(const NumberedEvent& a, const NumberedEvent& b) {
        return a.event.time != b.event.time ? a.event.time < b.event.time : a.number < b.number;
    }
};

/// std::priority_queue.
class BinaryHeap {
public:
    [[nodiscard]] std::size_t size() const { return queue_.size(); }
    [[nodiscard]] const NumberedEvent& top() const { return queue_.top(); }
    void push(const NumberedEvent& event) { queue_.push(event); }
    void pop() { queue_.pop(); }
    [[nodiscard]] const std::vector<NumberedEvent>& all() const { return queue_.c; }
    [[nodiscard]] std::vector<NumberedEvent>& all() { return queue_.c; }

private:
    struct Later {
        bool operator()(const NumberedEvent& a, const NumberedEvent& b) const { return b < a; }
    };
    /// Gives access to the container.
    struct Open : std::priority_queue<NumberedEvent, std::vector<NumberedEvent>, Later> {
        using priority_queue::c;
    };
    Open queue_;
};

/// A heap with half the levels of a binary one; the children of a node lie in one or two cache
/// lines.
class QuaternaryHeap {
public:
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    [[nodiscard]] const NumberedEvent& top() const { return heap_.front(); }
    [[nodiscard]] const std::vector<NumberedEvent>& all() const { return heap_; }
    [[nodiscard]] std::vector<NumberedEvent>& all() { return heap_; }

    void push(const NumberedEvent& event) {
        std::size_t hole = heap_.size();
        heap_.push_back(event);
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 4;
            if (!(event < heap_[parent])) {
                break;
            }
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = event;
    }

    void pop() {
        const NumberedEvent last = heap_.back();
        heap_.pop_back();
        const std::size_t count = heap_.size();
        if (count == 0) {
            return;
        }
        std::size_t hole = 0;
        for (std::size_t child = 1; child < count; child = 4 * hole + 1) {
            const std::size_t end = std::min(child + 4, count);
            std::size_t least = child;
            for (std::size_t other = child + 1; other < end; ++other) {
                if (heap_[other] < heap_[least]) {
                    least = other;
                }
            }
            if (!(heap_[least] < last)) {
                break;
            }
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = last;
    }

private:
    std::vector<NumberedEvent> heap_;
};

/// A queue over one of these heaps, with the interface of event_queue.h.
template <class Heap>
class HeapQueue {
public:
    static constexpr bool kInlinedInPlayer = std::is_same_v<Heap, BinaryHeap>;

    [[nodiscard]] bool empty() const { return heap_.size() == 0; }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }

    void push(const Event& event) {
        assert(event.time >= last_ && "a push before the time last popped");
        heap_.push({event, next_number_++});
    }
    Event pop() {
        const Event first = heap_.top().event;
        heap_.pop();
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
        return !empty() && heap_.top().event.time == last_;
    }
    [[nodiscard]] std::vector<Event> pending() const {
        std::vector<NumberedEvent> ordered = heap_.all();
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
        last_ += later_by;
        for (NumberedEvent& numbered : heap_.all()) {
            numbered.event = {numbered.event.time + later_by, rewrite(numbered.event.what)};
        }
    }

private:
    Heap heap_;
    std::uint64_t next_number_ = 0;
    Time last_;
};

}  // namespace podsim::bench
