// A link: a non-preemptive server that takes waiting messages by priority, then arrival time, then key.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/quantity.h"
#include "sim/time.h"

namespace podsim::sim {

// The words by which messages are ordered: priority is class (8 bits), operation (24), phase (32);
// key is operation (24), rank (40).
inline constexpr unsigned kClassShift = 56;
inline constexpr unsigned kOperationShift = 32;
inline constexpr unsigned kRankBits = 40;
inline constexpr unsigned kHopShift = 8;

/// A message that waits for a link. Lower goes first: (priority, arrival, operation and rank, hop and
/// source). The key (operation, rank, hop, index of the source among the places that share the server)
/// is unique among the messages that wait at one server.
struct Waiting {
    std::uint64_t priority = 0;  ///< class, then operation, then phase
    Time arrival;
    std::uint64_t key = 0;  ///< operation, then rank within its schedule
    std::uint32_t hop = 0;  ///< in units of 256, and the source's index among those that share
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

/// Bytes carried are counted in units of 1/1024 byte, so that sums are exact in any order.
inline constexpr double kCarriedUnit = 1024;

class LinkServer {
public:
    [[nodiscard]] bool idle(Time now) const { return free_at_ <= now; }
    [[nodiscard]] bool has_waiting() const { return !waiting_.empty(); }
    [[nodiscard]] Time free_at() const { return free_at_; }
    [[nodiscard]] Time busy() const { return busy_; }
    [[nodiscard]] std::int64_t carried() const { return carried_; }

    void add(const Waiting& waiting) {
        waiting_.push_back(waiting);
        std::push_heap(waiting_.begin(), waiting_.end(), later);
    }

    Waiting take_first() {
        std::pop_heap(waiting_.begin(), waiting_.end(), later);
        const Waiting first = waiting_.back();
        waiting_.pop_back();
        assert((waiting_.empty() || first < waiting_.front()) && "a message key is not unique");
        return first;
    }

    /// Holds the link from `start` to `end` for that many bytes.
    void hold(Time start, Time end, Bytes bytes) {
        free_at_ = end;
        busy_ += end - start;
        // Never negative, so that adding a half rounds to the nearest.
        carried_ += static_cast<std::int64_t>(  // NOLINT(bugprone-incorrect-roundings)
            bytes.value() * kCarriedUnit + 0.5);
    }

    /// The messages that wait, in no particular order.
    [[nodiscard]] const std::vector<Waiting>& waiting() const { return waiting_; }

    /// Moves the state later, to operations that many further on, and repeats what the link has done
    /// since it stood at these totals.
    void skip(Time later_by, std::uint32_t operations, std::uint32_t repeats, Time busy_before,
              std::int64_t carried_before) {
        free_at_ += later_by;
        for (Waiting& waiting : waiting_) {
            waiting.arrival += later_by;
            waiting.priority += std::uint64_t{operations} << kOperationShift;
            waiting.key += std::uint64_t{operations} << kRankBits;
        }
        busy_ += (busy_ - busy_before) * repeats;
        carried_ += (carried_ - carried_before) * repeats;
    }

    bool marked = false;          ///< in the executor's list of servers that may pick in this round
    bool free_event_due = false;  ///< an event at free_at is pending

private:
    static bool later(const Waiting& a, const Waiting& b) { return b < a; }

    std::vector<Waiting> waiting_;
    Time free_at_;
    Time busy_;
    std::int64_t carried_ = 0;
};

}  // namespace podsim::sim
