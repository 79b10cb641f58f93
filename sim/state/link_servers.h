// Links: non-preemptive servers that take waiting messages by priority, then arrival time, then
// key.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/huge_pages.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "sim/state/far_waiting.h"
#include "sim/state/waiting.h"
#include "sim/workload/result.h"

namespace podsim::sim {

/// The state of all links, field by field: 16 bytes a link decide if it can serve.
///
/// The first kNear waiting messages of a link are `near`: sorted, the next one at the end. Taking
/// it is a single read, and the usual late arrival with an early position moves only a few. Slots
/// lie in rows: the same slot of kRow links is contiguous, so that links that do the same at once
/// share cache lines. Further messages are in far_waiting.h. `goes_before` is the total order, the
/// same in all calls.
class LinkServers {
    struct State;
    struct Totals;

public:
    /// One server, looked up once.
    class At;
    [[nodiscard]] At at(std::size_t server);

    [[nodiscard]] std::size_t size() const { return states_.size(); }
    [[nodiscard]] bool has_waiting(std::size_t server) const {
        return states_[server].near_count() != 0;
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
    [[nodiscard]] bool free_event_due(std::size_t server) const {
        return states_[server].is(kFreeEventDue);
    }

    /// `port` is the index at its place; links that do the same at once have the same port.
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

    /// Prefetches the memory that will be touched: first a server's state, later its near messages.
    void prefetch(std::size_t server) const {
        __builtin_prefetch(&states_[server], 1);
        __builtin_prefetch(&totals_[server], 1);
    }
    void prefetch_near(std::size_t server) const {
        const std::size_t count = states_[server].near_count();
        __builtin_prefetch(near_.data() + first_slot(server) + (count == 0 ? 0 : count - 1) * kRow,
                           1);
    }

    /// Prefetches the states and far lists of the servers to which messages of that priority will
    /// come.
    void prefetch_states(std::span<const std::uint32_t> servers, std::uint32_t priority) const {
        for (const std::uint32_t server : servers) {
            __builtin_prefetch(&states_[server], 1);
        }
        if (far_.empty() || far_.size() < size()) {
            // No far messages, or links have been added since.
            return;
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

    /// Holds the link until it is released.
    void hold_on(std::size_t server) { states_[server].free_at = Time::max(); }
    [[nodiscard]] bool held_on(std::size_t server) const {
        return states_[server].free_at == Time::max();
    }
    /// Frees the link, which was due at `due`, at `now`. Returns true if the executor must let it
    /// pick in this round: a message waits, and no other event lets the link pick.
    bool release(std::size_t server, Time due, Time now) {
        State& state = states_[server];
        state.free_at = now;
        totals_[server].busy += now - due;
        return state.near_count() != 0 && !state.is(kListed | kFreeEventDue);
    }

    /// Returns the waiting messages, in no particular order.
    [[nodiscard]] std::vector<Waiting> waiting(std::size_t server) const {
        std::vector<Waiting> all;
        for (std::size_t i = 0; i < states_[server].near_count(); ++i) {
            all.push_back(near_[first_slot(server) + i * kRow]);
        }
        if (states_[server].is(kHasFar)) {
            far_[server].append_to(all, chunks_);
        }
        return all;
    }

    /// Moves the state later, with `move` to renumber the waiting messages. Repeats the link's
    /// activity since it had the given totals.
    template <class Move>
    void skip(std::size_t server, Time later_by, const Move& move, std::uint32_t repeats,
              Time busy_before, std::int64_t carried_before) {
        states_[server].free_at += held_on(server) ? Time{} : later_by;
        for (std::size_t i = 0; i < states_[server].near_count(); ++i) {
            move(near_[first_slot(server) + i * kRow]);
        }
        if (states_[server].is(kHasFar)) {
            far_[server].for_each(chunks_, move);
        }
        Totals& totals = totals_[server];
        totals.busy += (totals.busy - busy_before) * repeats;
        totals.carried_units += (totals.carried_units - carried_before) * repeats;
    }

private:
    // Powers of two, so that shifts find a slot.
    static constexpr std::size_t kNear = 32;
    static constexpr std::size_t kRow = 64;

    /// Returns the server's first slot; its slots are kRow apart. The same slot of kRow servers is
    /// contiguous, so that links that do the same at once share cache lines.
    static std::size_t first_slot(std::size_t server) {
        return server / kRow * kNear * kRow + server % kRow;
    }

    struct State {
        Time free_at;
        std::uint32_t link_class = 0;
        std::uint16_t port = 0;
        /// Number of near messages, and flags: read and written as a whole.
        std::uint16_t bits = 0;

        [[nodiscard]] std::size_t near_count() const { return bits & kNearCount; }
        [[nodiscard]] bool is(unsigned flag) const { return (bits & flag) != 0; }
        void set(unsigned flags) { bits = static_cast<std::uint16_t>(bits | flags); }
        void clear(unsigned flags) { bits = static_cast<std::uint16_t>(bits & ~flags); }
        void one_more() { bits = static_cast<std::uint16_t>(bits + 1U); }
        void one_less() { bits = static_cast<std::uint16_t>(bits - 1U); }
    };
    static_assert(sizeof(State) == 16);
    static constexpr unsigned kNearCount = 0xff;
    static constexpr unsigned kHasFar = 0x100;
    /// Flag: in the list of links that may pick.
    static constexpr unsigned kListed = 0x200;
    /// Flag: an event at free_at is pending.
    static constexpr unsigned kFreeEventDue = 0x400;
    struct Totals {
        Time busy;
        std::int64_t carried_units = 0;
    };

    std::vector<State> states_;
    std::vector<Totals> totals_;
    LargeArray<Waiting> near_;  ///< [server / kRow][kNear][kRow]
    /// [server], allocated once any link has far messages.
    std::vector<FarWaiting> far_;
    WaitingChunks chunks_;
};

class LinkServers::At {
public:
    At(LinkServers& all, std::size_t server)
        : all_(all),
          server_(server),
          state_(all.states_[server]),
          near_(all.near_.data() + first_slot(server)) {}

    [[nodiscard]] bool has_waiting() const { return state_.near_count() != 0; }
    [[nodiscard]] bool can_serve(Time now) const {
        return state_.near_count() != 0 && state_.free_at <= now;
    }
    [[nodiscard]] Time free_at() const { return state_.free_at; }
    [[nodiscard]] std::uint32_t link_class() const { return state_.link_class; }
    [[nodiscard]] std::uint32_t port() const { return state_.port; }

    /// Called when the server picks.
    void unlist() { state_.clear(kListed | kFreeEventDue); }
    void set_free_event_due() { state_.set(kFreeEventDue); }

    /// Adds a waiting message. Returns true if the server must be added to the executor's list of
    /// links that may pick in this round: it is not in the list, and no event at free_at is pending
    /// that will add it.
    template <class GoesBefore>
    bool add(Waiting waiting, const GoesBefore& goes_before) {
        add_unlisted(waiting, goes_before);
        const bool newly = !state_.is(kListed | kFreeEventDue);
        // Does no harm if an event will add it.
        state_.set(kListed);
        return newly;
    }
    /// Like add(), for a server that has just picked.
    template <class GoesBefore>
    void add_unlisted(Waiting waiting, const GoesBefore& goes_before) {
        if (!state_.is(kHasFar) && state_.near_count() < kNear) {
            insert(waiting, goes_before);
        } else {
            add_to_many(waiting, goes_before);
        }
    }

    /// Precondition: a message waits.
    Waiting take_first() {
        state_.one_less();
        const Waiting first = near_[state_.near_count() * kRow];
        if (state_.is(kHasFar) && state_.near_count() < kFewNear) {
            refill_if_empty();
        }
        return first;
    }

    /// Holds the link from `start` to `end` and counts `units` as carried.
    void hold(Time start, Time end, std::int64_t units) {
        state_.free_at = end;
        Totals& totals = all_.totals_[server_];
        // Cannot overflow: it is less than the clock.
        totals.busy.ps += end.ps - start.ps;
        totals.carried_units += units;
    }

private:
    static constexpr std::size_t kFewNear = 4;

    /// Inserts the message; those that go before it move up by one.
    template <class GoesBefore>
    void insert(Waiting waiting, const GoesBefore& goes_before) {
        Waiting* hole = near_ + state_.near_count() * kRow;
        state_.one_more();
        for (; hole != near_ && goes_before(*(hole - kRow), waiting); hole -= kRow) {
            *hole = *(hole - kRow);
        }
        *hole = waiting;
    }

    /// Keeps all near messages before all far ones, and at least one near while any is far.
    template <class GoesBefore>
    [[gnu::noinline]] void add_to_many(Waiting waiting, const GoesBefore& goes_before) {
        if (all_.far_.size() < all_.size()) {
            all_.far_.resize(all_.size());
        }
        FarWaiting& far = all_.far_[server_];
        const Waiting last = near_[0];
        const bool goes_far = goes_before(last, waiting);
        if (state_.near_count() < kNear && (far.empty() || !goes_far)) {
            insert(waiting, goes_before);
            return;
        }
        if (goes_far) {
            far.add(waiting, all_.chunks_, goes_before);
        } else {
            far.add(last, all_.chunks_, goes_before);
            for (std::size_t i = 1; i < state_.near_count(); ++i) {
                near_[(i - 1) * kRow] = near_[i * kRow];
            }
            state_.one_less();
            insert(waiting, goes_before);
        }
        state_.set(kHasFar);
    }

    /// Refills the near slots from the far lists, which are prefetched while the last near messages
    /// go.
    [[gnu::noinline]] void refill_if_empty() {
        FarWaiting& far = all_.far_[server_];
        if (has_waiting()) {
            far.prefetch_first(kFewNear - 1 - state_.near_count(), all_.chunks_);
            return;
        }
        std::array<Waiting, kNear / 2> taken;
        std::size_t count = 0;
        while (count < taken.size() && !far.empty()) {
            taken[count++] = far.take_first(all_.chunks_);
        }
        state_.clear(kNearCount | kHasFar);
        state_.set(static_cast<unsigned>(count) | (far.empty() ? 0U : kHasFar));
        for (std::size_t i = 0; i < count; ++i) {
            near_[(count - 1 - i) * kRow] = taken[i];
        }
    }

    LinkServers& all_;
    std::size_t server_;
    State& state_;
    Waiting* near_;
};

inline LinkServers::At LinkServers::at(std::size_t server) {
    return {*this, server};
}

}  // namespace podsim::sim
