// The pending events, in a stated total order: by time, and within one time in the order they were
// pushed. The kernel's results do not depend on the second part (see executor.h), its traces do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/time.h"

namespace podsim::sim {

enum class EventKind : std::uint8_t {
    link_free,           ///< subject: server
    head_arrived,        ///< subject: message
    message_arrived,     ///< subject: message
    task_ended,          ///< subject: place, detail: task
    operation_launched,  ///< subject: place, detail: task
};

/// 24 bytes: the kind shares a word with the push order, whose low bits it takes.
struct Event {
    Time time;
    std::uint64_t order = 0;
    std::uint32_t subject = 0;
    std::uint32_t detail = 0;

    Event(Time when, EventKind what, std::uint32_t of, std::uint32_t which = 0)
        : time(when), order(static_cast<std::uint64_t>(what)), subject(of), detail(which) {}
    [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(order & 7U); }
};

/// A 4-ary heap: half the levels of a binary one, children in one or two cache lines.
class EventQueue {
public:
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    [[nodiscard]] Time next_time() const { return heap_.front().time; }

    void push(Event event) {
        event.order |= next_order_;
        next_order_ += 8;
        std::size_t hole = heap_.size();
        heap_.push_back(event);
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 4;
            if (!before(event, heap_[parent])) {
                break;
            }
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = event;
    }

    Event pop() {
        const Event first = heap_.front();
        const Event last = heap_.back();
        heap_.pop_back();
        const std::size_t count = heap_.size();
        if (count == 0) {
            return first;
        }
        std::size_t hole = 0;
        for (std::size_t child = 1; child < count; child = 4 * hole + 1) {
            const std::size_t end = std::min(child + 4, count);
            std::size_t least = child;
            for (std::size_t other = child + 1; other < end; ++other) {
                if (before(heap_[other], heap_[least])) {
                    least = other;
                }
            }
            if (!before(heap_[least], last)) {
                break;
            }
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = last;
        return first;
    }

    /// The pending events, in no particular order.
    [[nodiscard]] const std::vector<Event>& pending() const { return heap_; }

    /// Moves every event later, and those of tasks to tasks that many further on. Keeps the order.
    void skip(Time later_by, std::uint32_t tasks) {
        for (Event& event : heap_) {
            event.time += later_by;
            if (event.kind() == EventKind::task_ended ||
                event.kind() == EventKind::operation_launched) {
                event.detail += tasks;
            }
        }
    }

private:
    static bool before(const Event& a, const Event& b) {
        return a.time != b.time ? a.time < b.time : a.order < b.order;
    }

    std::vector<Event> heap_;
    std::uint64_t next_order_ = 0;
};

}  // namespace podsim::sim
