// A link: a non-preemptive server that takes waiting messages by priority, then arrival time, then key.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/quantity.h"
#include "sim/time.h"

namespace podsim::sim {

/// A message that waits for a link. Lower goes first: (priority, arrival, operation and rank, hop).
/// The key (operation, rank, hop) is unique among the messages that wait at one server.
struct Waiting {
    std::uint64_t priority = 0;  ///< class, then operation, then phase
    Time arrival;
    std::uint64_t key = 0;  ///< operation, then rank within its schedule
    std::uint32_t hop = 0;
    std::uint32_t message = 0;

    friend bool operator<(const Waiting& a, const Waiting& b) {
        if (a.priority != b.priority) {
            return a.priority < b.priority;
        }
        if (a.arrival != b.arrival) {
            return a.arrival < b.arrival;
        }
        return a.key != b.key ? a.key < b.key : a.hop < b.hop;
    }
};

class LinkServer {
public:
    [[nodiscard]] bool idle(Time now) const { return free_at_ <= now; }
    [[nodiscard]] bool has_waiting() const { return !waiting_.empty(); }
    [[nodiscard]] Time free_at() const { return free_at_; }
    [[nodiscard]] Time busy() const { return busy_; }
    [[nodiscard]] Bytes carried() const { return carried_; }

    void add(const Waiting& waiting) {
        waiting_.push_back(waiting);
        std::push_heap(waiting_.begin(), waiting_.end(), later);
    }

    Waiting take_first() {
        std::pop_heap(waiting_.begin(), waiting_.end(), later);
        const Waiting first = waiting_.back();
        waiting_.pop_back();
        return first;
    }

    /// Holds the link from `start` to `end` for that many bytes.
    void hold(Time start, Time end, Bytes bytes) {
        free_at_ = end;
        busy_ += end - start;
        carried_ += bytes;
    }

    bool marked = false;          ///< in the executor's list of servers that may pick in this round
    bool free_event_due = false;  ///< an event at free_at is pending

private:
    static bool later(const Waiting& a, const Waiting& b) { return b < a; }

    std::vector<Waiting> waiting_;
    Time free_at_;
    Time busy_;
    Bytes carried_;
};

}  // namespace podsim::sim
