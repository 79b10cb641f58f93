// Links: non-preemptive servers that take waiting messages by priority, then arrival time, then key.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sim/quantity.h"
#include "sim/time.h"

namespace podsim::sim {

/// A message that waits for a link: 16 bytes. Lower `order` goes first; where it is equal, the executor
/// compares keys: rank within the schedule, hop, index of the source among the places that share a server.
struct Waiting {
    static constexpr unsigned kInstantBits = 40;
    static constexpr std::uint32_t kLaterHop = 0x80000000;

    /// The number of its priority (class, operation, phase), then that of the instant of its arrival.
    std::uint64_t order = 0;
    std::uint32_t transfer = 0;  ///< with kLaterHop on all hops but the first
    std::uint32_t from = 0;      ///< its source; on later hops, the message

    [[nodiscard]] std::uint32_t priority() const {
        return static_cast<std::uint32_t>(order >> kInstantBits);
    }
    [[nodiscard]] std::uint64_t instant() const {
        return order & ((std::uint64_t{1} << kInstantBits) - 1);
    }
};
static_assert(sizeof(Waiting) == 16 && std::is_trivially_copyable_v<Waiting>);

/// Bytes carried are counted in units of 1/1024 byte, so that sums are exact in any order.
inline constexpr double kCarriedUnit = 1024;
inline std::int64_t carried_units(Bytes bytes) {
    // Never negative, so that adding a half rounds to the nearest.
    return static_cast<std::int64_t>(  // NOLINT(bugprone-incorrect-roundings)
        bytes.value() * kCarriedUnit + 0.5);
}

/// The state of all links, field by field: what decides whether a link can serve is 16 bytes a link, so that the
/// links of a whole slice stay in the cache.
///
/// Of what waits at a link, the first kNear lie near, sorted, the first of all at the end: taking it is reading
/// it, and what comes late but goes early, the usual case, moves only a few. The rest is a heap. `goes_before`
/// is the total order, the same in all calls.
class LinkServers {
public:
    [[nodiscard]] std::size_t size() const { return states_.size(); }
    [[nodiscard]] bool idle(std::size_t server, Time now) const {
        return states_[server].free_at <= now;
    }
    [[nodiscard]] bool has_waiting(std::size_t server) const {
        return states_[server].near_count != 0;
    }
    [[nodiscard]] Time free_at(std::size_t server) const { return states_[server].free_at; }
    [[nodiscard]] Time busy(std::size_t server) const { return totals_[server].busy; }
    [[nodiscard]] std::int64_t carried(std::size_t server) const {
        return totals_[server].carried_units;
    }
    [[nodiscard]] std::uint32_t link_class(std::size_t server) const {
        return states_[server].link_class;
    }
    /// In the executor's list of servers that may pick in this round.
    bool& marked(std::size_t server) { return states_[server].marked; }
    /// An event at free_at is pending.
    bool& free_event_due(std::size_t server) { return states_[server].free_event_due; }
    [[nodiscard]] bool free_event_due(std::size_t server) const {
        return states_[server].free_event_due;
    }

    void append(std::uint32_t link_class) {
        states_.emplace_back().link_class = link_class;
        totals_.emplace_back();
        near_.resize(near_.size() + kNear);
    }
    void reserve(std::size_t count) {
        states_.reserve(count);
        totals_.reserve(count);
        near_.reserve(count * kNear);
    }

    template <class GoesBefore>
    void add(std::size_t server, const Waiting& waiting, const GoesBefore& goes_before) {
        State& state = states_[server];
        if (!state.has_far && state.near_count < kNear) {
            insert(server, waiting, goes_before);
        } else {
            add_to_many(server, waiting, goes_before);
        }
    }

    template <class GoesBefore>
    Waiting take_first(std::size_t server, const GoesBefore& goes_before) {
        State& state = states_[server];
        const Waiting first = near_[server * kNear + --state.near_count];
        if (state.near_count == 0 && state.has_far) {
            refill(server, goes_before);
        }
        return first;
    }

    /// Ask for the memory that will be touched: first of a server's state, later of what waits there.
    void prefetch_state(std::size_t server) const { __builtin_prefetch(&states_[server], 1); }
    void prefetch_waiting(std::size_t server) const {
        const Waiting* const end = near_.data() + server * kNear + states_[server].near_count;
        __builtin_prefetch(end - 1, 1);
        __builtin_prefetch(end - 4, 1);
    }
    void prefetch_totals(std::size_t server) const { __builtin_prefetch(&totals_[server], 1); }

    /// Holds the link from `start` to `end` for bytes of that many units.
    void hold(std::size_t server, Time start, Time end, std::int64_t units) {
        states_[server].free_at = end;
        totals_[server].busy += end - start;
        totals_[server].carried_units += units;
    }

    /// The messages that wait, in no particular order.
    [[nodiscard]] std::vector<Waiting> waiting(std::size_t server) const {
        const auto near = near_.begin() + static_cast<std::ptrdiff_t>(server * kNear);
        std::vector<Waiting> all(near, near + states_[server].near_count);
        if (states_[server].has_far) {
            const std::vector<Waiting>& far = far_[server];
            all.insert(all.end(), far.begin(), far.end());
        }
        return all;
    }

    /// Moves the state later, with `move` to renumber what waits, and repeats what the link has done since it
    /// stood at these totals.
    template <class Move>
    void skip(std::size_t server, Time later_by, const Move& move, std::uint32_t repeats,
              Time busy_before, std::int64_t carried_before) {
        states_[server].free_at += later_by;
        const auto near = near_.begin() + static_cast<std::ptrdiff_t>(server * kNear);
        std::for_each(near, near + states_[server].near_count, move);
        if (states_[server].has_far) {
            std::vector<Waiting>& far = far_[server];
            std::for_each(far.begin(), far.end(), move);
        }
        Totals& totals = totals_[server];
        totals.busy += (totals.busy - busy_before) * repeats;
        totals.carried_units += (totals.carried_units - carried_before) * repeats;
    }

private:
    static constexpr std::size_t kNear = 28;

    struct State {
        Time free_at;
        std::uint32_t link_class = 0;
        std::uint8_t near_count = 0;
        bool has_far = false;
        bool marked = false;
        bool free_event_due = false;
    };
    static_assert(sizeof(State) == 16);
    struct Totals {
        Time busy;
        std::int64_t carried_units = 0;
    };

    /// Those that go before it move up by one.
    template <class GoesBefore>
    void insert(std::size_t server, const Waiting& waiting, const GoesBefore& goes_before) {
        Waiting* const near = &near_[server * kNear];
        std::size_t hole = states_[server].near_count++;
        for (; hole > 0 && goes_before(near[hole - 1], waiting); --hole) {
            near[hole] = near[hole - 1];
        }
        near[hole] = waiting;
    }

    /// Keeps all that lies near before all that lies far, and something near while anything waits.
    template <class GoesBefore>
    void add_to_many(std::size_t server, const Waiting& waiting, const GoesBefore& goes_before) {
        State& state = states_[server];
        Waiting* const near = &near_[server * kNear];
        if (far_.size() < size()) {
            far_.resize(size());
        }
        std::vector<Waiting>& far = far_[server];
        const bool goes_far = goes_before(near[0], waiting);
        if (state.near_count < kNear && (far.empty() || !goes_far)) {
            insert(server, waiting, goes_before);
            return;
        }
        if (goes_far) {
            far.push_back(waiting);
        } else {
            far.push_back(near[0]);
            std::copy(near + 1, near + state.near_count, near);
            --state.near_count;
            insert(server, waiting, goes_before);
        }
        state.has_far = true;
        std::push_heap(far.begin(), far.end(), reversed(goes_before));
    }

    template <class GoesBefore>
    void refill(std::size_t server, const GoesBefore& goes_before) {
        State& state = states_[server];
        std::vector<Waiting>& far = far_[server];
        state.near_count = static_cast<std::uint8_t>(std::min(far.size(), kNear / 2));
        for (std::size_t i = 0; i < state.near_count; ++i) {
            std::pop_heap(far.begin(), far.end(), reversed(goes_before));
            near_[server * kNear + state.near_count - 1 - i] = far.back();
            far.pop_back();
        }
        state.has_far = !far.empty();
    }

    template <class GoesBefore>
    static auto reversed(const GoesBefore& goes_before) {
        return [&goes_before](const Waiting& a, const Waiting& b) { return goes_before(b, a); };
    }

    std::vector<State> states_;
    std::vector<Totals> totals_;
    std::vector<Waiting> near_;              ///< [server][kNear]
    std::vector<std::vector<Waiting>> far_;  ///< [server], once many wait anywhere
};

}  // namespace podsim::sim
