// Links: non-preemptive servers that take waiting messages by priority, then arrival time, then key.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "sim/state/far_waiting.h"
#include "sim/state/waiting.h"

namespace podsim::sim {

/// Bytes carried are counted in units of 1/1024 byte, so that sums are exact in any order.
inline constexpr double kCarriedUnit = 1024;
inline std::int64_t carried_units(Bytes bytes) {
    // Never negative, so that adding a half rounds to the nearest.
    const double up_to_a_half_more = bytes.value() * kCarriedUnit + 0.5;
    return static_cast<std::int64_t>(up_to_a_half_more);
}

/// The state of all links, field by field: what decides whether a link can serve is 16 bytes a link.
///
/// Of what waits at a link, the first kNear lie near, sorted, the first of all at the end: taking it is reading
/// it, and what comes late but goes early, the usual case, moves only a few. They lie in rows, the same turn of
/// kRow links side by side, so that links that do the same at once share lines of the cache. The rest is in far_waiting.h.
/// `goes_before` is the total order, the same in all calls.
class LinkServers {
public:
    [[nodiscard]] std::size_t size() const { return states_.size(); }
    [[nodiscard]] bool has_waiting(std::size_t server) const {
        return states_[server].near_count != 0;
    }
    [[nodiscard]] bool can_serve(std::size_t server, Time now) const {
        return states_[server].near_count != 0 && states_[server].free_at <= now;
    }
    [[nodiscard]] Time free_at(std::size_t server) const { return states_[server].free_at; }
    [[nodiscard]] Time busy(std::size_t server) const { return totals_[server].busy; }
    [[nodiscard]] std::int64_t carried(std::size_t server) const {
        return totals_[server].carried_units;
    }
    [[nodiscard]] std::uint32_t link_class(std::size_t server) const {
        return states_[server].link_class;
    }
    [[nodiscard]] std::uint32_t port(std::size_t server) const { return states_[server].port; }
    /// The server picks.
    void unlist(std::size_t server) {
        states_[server].listed = false;
        states_[server].free_event_due = false;
    }
    void set_free_event_due(std::size_t server) { states_[server].free_event_due = true; }
    [[nodiscard]] bool free_event_due(std::size_t server) const {
        return states_[server].free_event_due;
    }

    /// `port`: of its place; links that do the same at once have the same.
    void append(std::uint32_t link_class, std::size_t port = 0) {
        State& state = states_.emplace_back();
        state.link_class = link_class;
        state.port = static_cast<std::uint16_t>(port);
        totals_.emplace_back();
        near_.resize((states_.size() + kRow - 1) / kRow * kRow * kNear);
    }
    void reserve(std::size_t count) {
        states_.reserve(count);
        totals_.reserve(count);
        near_.reserve((count + kRow - 1) / kRow * kRow * kNear);
    }

    /// A message comes to wait. Whether the server must be added to the executor's list of those that may pick in
    /// this round: it is not yet there, nor is an event at free_at pending that will add it.
    template <class GoesBefore>
    bool add(std::size_t server, const Waiting& waiting, const GoesBefore& goes_before) {
        add_unlisted(server, waiting, goes_before);
        State& state = states_[server];
        const bool newly = !state.listed && !state.free_event_due;
        state.listed |= newly;
        return newly;
    }
    /// The same where the server has just picked.
    template <class GoesBefore>
    void add_unlisted(std::size_t server, const Waiting& waiting, const GoesBefore& goes_before) {
        const State& state = states_[server];
        if (!state.has_far && state.near_count < kNear) {
            insert(server, waiting, goes_before);
        } else {
            add_to_many(server, waiting, goes_before);
        }
    }

    Waiting take_first(std::size_t server) {
        State& state = states_[server];
        const Waiting first = near(server, --state.near_count);
        if (state.near_count == 0 && state.has_far) {
            refill(server);
        }
        return first;
    }

    /// Ask for the memory that will be touched: first of a server's state, later of what lies near.
    void prefetch(std::size_t server) const {
        __builtin_prefetch(&states_[server], 1);
        __builtin_prefetch(&totals_[server], 1);
    }
    void prefetch_near(std::size_t server) const {
        const std::size_t count = states_[server].near_count;
        __builtin_prefetch(near_.data() + slot_of(server, count == 0 ? 0 : count - 1), 1);
    }

    /// The same of what lies far, where messages of that priority will come to the servers.
    void prefetch_far(std::span<const std::uint32_t> servers, std::uint32_t priority) const {
        if (far_.size() < size()) {
            return;  // nothing lies far, or links have been added since
        }
        for (const std::uint32_t server : servers) {
            __builtin_prefetch(&far_[server], 1);
        }
        for (const std::uint32_t server : servers) {
            far_[server].prefetch_lists();
        }
        for (const std::uint32_t server : servers) {
            far_[server].prefetch_end(priority);
        }
    }

    /// Holds the link from `start` to `end` for bytes of that many units.
    void hold(std::size_t server, Time start, Time end, std::int64_t units) {
        states_[server].free_at = end;
        totals_[server].busy.ps += end.ps - start.ps;  // less than the clock
        totals_[server].carried_units += units;
    }

    /// Holds the link on, until it is released.
    void hold_on(std::size_t server) { states_[server].free_at = Time::max(); }
    [[nodiscard]] bool held_on(std::size_t server) const {
        return states_[server].free_at == Time::max();
    }
    /// The link, which was due to be free at `due`, is free now. Whether the executor must let it pick in this round:
    /// something waits, and nothing else has it pick.
    bool release(std::size_t server, Time due, Time now) {
        State& state = states_[server];
        state.free_at = now;
        totals_[server].busy += now - due;
        return state.near_count != 0 && !state.listed && !state.free_event_due;
    }

    /// The messages that wait, in no particular order.
    [[nodiscard]] std::vector<Waiting> waiting(std::size_t server) const {
        std::vector<Waiting> all;
        for (std::size_t i = 0; i < states_[server].near_count; ++i) {
            all.push_back(near_[slot_of(server, i)]);
        }
        if (states_[server].has_far) {
            far_[server].append_to(all);
        }
        return all;
    }

    /// Moves the state later, with `move` to renumber what waits, and repeats what the link has done since it
    /// stood at these totals.
    template <class Move>
    void skip(std::size_t server, Time later_by, const Move& move, std::uint32_t repeats,
              Time busy_before, std::int64_t carried_before) {
        states_[server].free_at += held_on(server) ? Time{} : later_by;
        for (std::size_t i = 0; i < states_[server].near_count; ++i) {
            move(near(server, i));
        }
        if (states_[server].has_far) {
            far_[server].for_each(move);
        }
        Totals& totals = totals_[server];
        totals.busy += (totals.busy - busy_before) * repeats;
        totals.carried_units += (totals.carried_units - carried_before) * repeats;
    }

private:
    static constexpr std::size_t kNear = 28;
    static constexpr std::size_t kRow = 64;

    /// Rows of the same turn of kRow servers: links that do the same lie side by side.
    static std::size_t slot_of(std::size_t server, std::size_t turn) {
        return (server / kRow * kNear + turn) * kRow + server % kRow;
    }
    Waiting& near(std::size_t server, std::size_t turn) { return near_[slot_of(server, turn)]; }

    struct State {
        Time free_at;
        std::uint32_t link_class = 0;
        std::uint16_t port = 0;
        std::uint8_t near_count = 0;
        bool has_far : 1 = false;
        bool listed : 1 = false;          ///< in the list of those that may pick
        bool free_event_due : 1 = false;  ///< an event at free_at is pending
    };
    static_assert(sizeof(State) == 16);
    struct Totals {
        Time busy;
        std::int64_t carried_units = 0;
    };

    /// Those that go before it move up by one.
    template <class GoesBefore>
    void insert(std::size_t server, const Waiting& waiting, const GoesBefore& goes_before) {
        Waiting* hole = &near(server, states_[server].near_count);
        Waiting* const last = hole - states_[server].near_count++ * kRow;
        for (; hole != last && goes_before(*(hole - kRow), waiting); hole -= kRow) {
            *hole = *(hole - kRow);
        }
        *hole = waiting;
    }

    /// Keeps all that lies near before all that lies far, and something near while anything lies far.
    template <class GoesBefore>
    void add_to_many(std::size_t server, const Waiting& waiting, const GoesBefore& goes_before) {
        State& state = states_[server];
        if (far_.size() < size()) {
            far_.resize(size());
        }
        FarWaiting& far = far_[server];
        const Waiting last = near(server, 0);
        const bool goes_far = goes_before(last, waiting);
        if (state.near_count < kNear && (far.empty() || !goes_far)) {
            insert(server, waiting, goes_before);
            return;
        }
        if (goes_far) {
            far.add(waiting, chunks_, goes_before);
        } else {
            far.add(last, chunks_, goes_before);
            for (std::size_t i = 1; i < state.near_count; ++i) {
                near(server, i - 1) = near(server, i);
            }
            --state.near_count;
            insert(server, waiting, goes_before);
        }
        state.has_far = true;
    }

    void refill(std::size_t server) {
        State& state = states_[server];
        FarWaiting& far = far_[server];
        std::array<Waiting, kNear / 2> taken;
        std::size_t count = 0;
        while (count < taken.size() && !far.empty()) {
            taken[count++] = far.take_first(chunks_);
        }
        state.near_count = static_cast<std::uint8_t>(count);
        for (std::size_t i = 0; i < count; ++i) {
            near(server, count - 1 - i) = taken[i];
        }
        state.has_far = !far.empty();
    }

    std::vector<State> states_;
    std::vector<Totals> totals_;
    std::vector<Waiting> near_;    ///< [server / kRow][kNear][kRow]
    std::vector<FarWaiting> far_;  ///< [server], once many wait anywhere
    WaitingChunks chunks_;
};

}  // namespace podsim::sim
