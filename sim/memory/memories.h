// The memories (HBM) of the places: who reads and writes them, and what waits for that.
//
// Work reads evenly over its time, slowed down as a whole where it gets less than it asks for: nothing can be computed
// that has not come. A message reads its source's memory while it holds its first link and writes its destination's
// while it holds its last, both from the start of the hold to its end (that the last bit lands a latency later is left
// out); chips in between are crossed, not stored in. A link is held until the read and the write have both ended, and
// the message arrives as much later as its links were held longer.
//
// Nothing is scheduled while the demands at a place fit its memory: a stream is then only a demand and an end in a slot.
// Once they do not fit, all streams of the place that have not ended are followed: a server shares the memory
// (shared_server.h), and one event of the place, its wake, comes when the next stream ends. Events of work and messages
// that come before the end of their streams are put aside; a message whose streams get all that they ask for is as on
// time as if nobody followed it, and its link frees by itself. What is added while demands fit again is not followed.
// Which streams are followed, and which links held up, at the end of an instant does not depend on the order of what
// happens in it: demands only grow meanwhile, since what ends at an instant is not counted in it, and shares only shrink. So
// it is found out once for each place to which something has happened, before the clock goes on (`settle`).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/followed_links.h"
#include "sim/memory/held_message.h"
#include "sim/memory/late_messages.h"
#include "sim/memory/shared_server.h"
#include "sim/memory/stream_slots.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

class Memories {
public:
    /// A link that was followed and is free now, or a message that comes at its destination at `time`.
    struct FreedLink {
        std::uint32_t server = 0;
        Time due;  ///< when it would have been free
        HeldMessage message;
    };
    struct Arriving {
        MessageId message;
        Time time;
    };
    /// A wake that must be posted: an event of the place at that time.
    struct Wake {
        Time time;
        std::uint32_t place = 0;
    };

    explicit Memories(const Workload& workload);

    /// Whether the demands can exceed the memory anywhere; where not, nobody need call what follows.
    [[nodiscard]] bool active() const { return !places_.empty(); }
    /// Whether the demands can exceed that place's memory.
    [[nodiscard]] bool at_risk(std::uint32_t place) const { return places_[place].at_risk; }

    /// Work of the place begins that takes `alone` at its demand.
    void begin_work(std::uint32_t place, std::uint32_t resource, std::uint32_t task,
                    std::int64_t demand, Time alone, Time now) {
        if (places_[place].at_risk && demand > 0 && alone.ps > 0) {
            const std::size_t slot = slots_.find_slot(place, {kWork, resource});
            begin(place, slots_.load(place, slot), demand, now + alone);
            slots_.stream(place, slot).task = task;
            settle_if_many(place);
        }
    }
    /// Whether the work, which would now end alone, does so; if not it will be among those that a wake ends.
    bool ends_now(std::uint32_t place, std::uint32_t task, Time now);

    /// A message crosses a link until `end`, later than now: it, and each of its copies, reads its source's memory and
    /// writes that of `to` at these demands; 0: it does not.
    void begin_hold(std::uint32_t server, const HeldMessage& message, std::uint32_t to,
                    std::int64_t reads, std::int64_t writes, Time end) {
        StreamSlots::OfLink& link = slots_.of_link(server);
        link.message = message;
        const std::uint32_t from = message.source;
        if (reads > 0 && places_[from].at_risk) {
            begin(from, slots_.load_of(from, {kRead, server}, link.read), reads * message.copies,
                  end);
            settle_if_many(from);
        }
        if (writes > 0 && places_[to].at_risk) {
            begin(to, slots_.load_of(to, {kWrite, server}, link.written), writes * message.copies,
                  end);
            settle_if_many(to);
        }
    }
    /// Whether the message, which would now arrive, does so; if not it will be among those that arrive later.
    bool arrives(const MessageId& message, Time now);
    /// Whether any message may arrive later than its links alone would have it.
    [[nodiscard]] bool any_late() const { return !late_.empty(); }

    /// An event of the place: tasks that end late now, until the next, while links and messages are kept for the next
    /// two calls.
    const std::vector<std::uint32_t>& wake(std::uint32_t place, Time now);
    /// Calls use(FreedLink), use(Arriving) for those since the last call.
    template <class Use>
    void take_freed(const Use& use) {
        take(freed_, use);
    }
    template <class Use>
    void take_arriving(const Use& use) {
        take(arriving_, use);
    }
    [[nodiscard]] bool any_freed() const { return !freed_.empty() || !arriving_.empty(); }
    /// Whether something has happened that `settle` has not seen.
    [[nodiscard]] bool any_unsettled() const { return !unsettled_.empty(); }
    /// Shares the memories of the places to which something has happened at this instant, until the next two calls.
    void settle(Time now);
    /// The same with use(Wake), and with use(server) where links are held until they are among the freed.
    template <class Use>
    void take_to_post(const Use& use) {
        take(to_post_, use);
    }
    template <class Use>
    void take_held_on(const Use& use) {
        take(held_on_, use);
    }

    static constexpr std::uint32_t kWork = StreamSlots::kWork;    ///< number: task
    static constexpr std::uint32_t kRead = StreamSlots::kRead;    ///< number: server
    static constexpr std::uint32_t kWrite = StreamSlots::kWrite;  ///< number: server

    /// Whether all that was followed has been read and written, to the last byte, and holds nothing up.
    [[nodiscard]] bool settled_up() const;

    // What reuse must know of the state.
    /// A stream that has not ended.
    struct StreamState {
        SharedServer::Key key;
        std::int64_t demand = 0;
        bool followed = false;
        bool overdue = false;
        std::int64_t share = 0;  ///< of those that are followed
        Work left = 0;
    };
    [[nodiscard]] std::vector<StreamState> streams(std::uint32_t place, Time now) const;
    /// Nothing: no wake is due.
    [[nodiscard]] std::optional<Time> wake_of(std::uint32_t place) const;
    [[nodiscard]] const FollowedLinks& followed_links() const { return links_; }
    [[nodiscard]] const LateMessages& late_messages() const { return late_; }
    /// Nothing for operations that stay.
    using ImageOf = std::function<std::optional<std::uint32_t>(std::uint32_t)>;
    /// What repeats was skipped: the state of these places moves, with tasks that many on and operations as
    /// `image_of` says.
    void skip(const std::vector<std::uint32_t>& places, Time later_by, std::uint32_t tasks,
              const ImageOf& image_of);

private:
    struct Place {
        std::int64_t bound = 0;  ///< of all demands, those of ended streams included
        std::int64_t followed =
            0;                ///< of it, those of streams that are followed: right until `wake`
        Time wake = kNoWake;  ///< when the first that is followed ends
        bool at_risk = false;
        bool unsettled = false;
        bool ended = false;  ///< streams that were followed, since it was settled
    };
    static constexpr Time kNoWake{-1};

    template <class Item, class Use>
    static void take(std::vector<Item>& items, const Use& use) {
        std::ranges::for_each(items, use);
        items.clear();
    }

    static std::vector<Place> places_for(const Workload& workload);
    [[nodiscard]] bool any_followed(std::uint32_t place) const {
        return places_[place].wake != kNoWake;
    }
    /// A stream begins, and the one before in its slot is no more.
    void begin(std::uint32_t place, StreamSlots::Load& load, std::int64_t demand, Time end) {
        places_[place].bound += demand - load.demand;
        load.demand = demand;
        load.end = end;
    }
    void settle_if_many(std::uint32_t place) {
        if (places_[place].bound > rate_) {
            settle_later(place);
        }
    }
    void settle_later(std::uint32_t place) {
        if (!std::exchange(places_[place].unsettled, true)) {
            unsettled_.push_back(place);
        }
    }
    void settle(std::uint32_t place, Time now);
    /// Whether its streams ask for more than there is.
    [[nodiscard]] bool asks_too_much(std::uint32_t place, Time now);
    /// All its streams are followed from now on.
    void follow(std::uint32_t place, Time now);
    void hold_up(std::uint32_t place, SharedServer::Key key);
    /// All streams of the link's message have ended.
    bool has_ended(std::uint32_t server, Time now);
    /// The streams that are followed have changed.
    void set_wake(std::uint32_t place);
    void link_ended(std::uint32_t server, Time now);
    void skip_streams(std::uint32_t place, Time later_by, std::uint32_t tasks);

    std::int64_t rate_ = 0;
    std::vector<Place> places_;
    std::vector<SharedServer> servers_;                ///< [place]
    std::vector<std::vector<std::uint32_t>> overdue_;  ///< [place]: tasks that should have ended
    StreamSlots slots_;
    FollowedLinks links_;
    LateMessages late_;
    std::vector<std::uint32_t> unsettled_;          ///< places
    std::vector<SharedServer::Key> ended_streams_;  ///< at a wake
    std::vector<std::uint32_t> ended_tasks_;
    std::vector<FreedLink> freed_;
    std::vector<Arriving> arriving_;
    std::vector<Wake> to_post_;
    std::vector<std::uint32_t> held_on_;
};

}  // namespace podsim::sim
