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
// happens in it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/shared_server.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

class Memories {
public:
    /// A message on a link: hop `hop` of the transfer from `source`.
    struct Held {
        std::uint32_t operation = 0;
        std::uint32_t transfer = 0;
        std::uint32_t source = 0;
        std::uint32_t hop = 0;
    };
    struct MessageId {
        std::uint32_t operation = 0;
        std::uint32_t transfer = 0;
        std::uint32_t source = 0;

        friend auto operator<=>(const MessageId&, const MessageId&) = default;
    };
    /// A link that was followed and is free now, or a message that comes at its destination at `time`.
    struct FreedLink {
        std::uint32_t server = 0;
        Time due;  ///< when it would have been free
        Held message;
    };
    struct Arriving {
        std::uint32_t operation = 0;
        std::uint32_t transfer = 0;
        std::uint32_t source = 0;
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
        Place& at = places_[place];
        if (at.at_risk && demand > 0 && alone.ps > 0) {
            begin(place, {kWork, resource}, {.demand = demand, .end = now + alone, .number = task},
                  now);
        }
    }
    /// Whether the work, which would now end alone, does so; if not it will be among those that a wake ends.
    bool ends_now(std::uint32_t place, std::uint32_t task, Time now);

    /// A message reads or writes (`kRead`, `kWrite`) the place's memory at that demand until the link is free.
    void begin_hold(std::uint32_t kind, std::uint32_t place, std::uint32_t server,
                    const Held& message, std::int64_t demand, Time end, Time now) {
        Place& at = places_[place];
        if (at.at_risk && demand > 0 && end > now) {
            begin(place, {kind, server},
                  {.demand = demand, .end = end, .number = server, .message = message}, now);
        }
    }
    /// Whether the message, which would now arrive, does so; if not it will be among those that arrive later.
    bool arrives(const MessageId& message, Time now);
    /// Whether any message may arrive later than its links alone would have it.
    [[nodiscard]] bool any_late() const { return !late_.empty(); }

    /// An event of the place: tasks that end late now, while links and messages are kept for the next two calls.
    std::vector<std::uint32_t> wake(std::uint32_t place, Time now);
    /// Since the last call.
    std::vector<FreedLink> take_freed() { return std::exchange(freed_, {}); }
    std::vector<Arriving> take_arriving() { return std::exchange(arriving_, {}); }
    [[nodiscard]] bool any_freed() const { return !freed_.empty() || !arriving_.empty(); }
    [[nodiscard]] bool any_news() const { return !to_post_.empty() || !held_on_.empty(); }
    std::vector<Wake> take_to_post() { return std::exchange(to_post_, {}); }
    /// Servers whose links are held until they are among the freed.
    std::vector<std::uint32_t> take_held_on() { return std::exchange(held_on_, {}); }

    static constexpr std::uint32_t kWork = 0;   ///< number: task
    static constexpr std::uint32_t kRead = 1;   ///< number: server
    static constexpr std::uint32_t kWrite = 2;  ///< number: server

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
    /// A link that its message holds for longer.
    struct Followed {
        Held message;
        Time due;  ///< when it would have been free
        std::vector<std::pair<std::uint32_t, std::uint32_t>> streams;  ///< (place, kind), late
    };
    [[nodiscard]] const std::map<std::uint32_t, Followed>& followed_links() const { return links_; }
    struct Late {
        std::vector<std::uint32_t> links;  ///< servers that are followed and not free
        Time by;                           ///< of those that are
        std::optional<Time> arrival;       ///< when it would have arrived, once that has passed
        bool arrived = false;
    };
    [[nodiscard]] const std::map<MessageId, Late>& late_messages() const { return late_; }
    /// What repeats was skipped: the state of these places moves, with tasks that many on and operations as
    /// `image_of` says (nothing for those that stay).
    void skip(const std::vector<std::uint32_t>& places, Time later_by, std::uint32_t tasks,
              const std::function<std::optional<std::uint32_t>(std::uint32_t)>& image_of);

private:
    /// A stream that is not followed.
    struct Stream {
        std::int64_t demand = 0;
        Time end;
        std::uint32_t number = 0;  ///< task or server
        Held message{};
    };
    /// The last of a kind of one resource or link: they come one after the other.
    struct Slot {
        SharedServer::Key owner;
        Stream stream;

        [[nodiscard]] SharedServer::Key key() const { return {owner.kind, stream.number}; }
    };
    struct Place {
        bool at_risk = false;
        std::int64_t bound = 0;  ///< of the demands in slots, those of ended streams included
        std::vector<Slot> slots;
        SharedServer server;
        std::vector<std::uint32_t> overdue;  ///< tasks that should have ended
        Time wake = kNoWake;
    };
    static constexpr Time kNoWake{-1};

    /// Of a place and a link or a resource of it. Mostly the one in which it was when last asked for.
    Slot& slot_of(Place& at, SharedServer::Key owner) {
        const std::size_t known = owner.number * std::size_t{3} + owner.kind;
        if (known < known_slots_.size() && known_slots_[known] < at.slots.size() &&
            at.slots[known_slots_[known]].owner == owner) {
            return at.slots[known_slots_[known]];
        }
        return find_slot(at, owner);
    }
    Slot& find_slot(Place& at, SharedServer::Key owner);

    void begin(std::uint32_t place, SharedServer::Key owner, const Stream& stream, Time now) {
        Place& at = places_[place];
        Slot* const slot = &slot_of(at, owner);
        at.bound += stream.demand - slot->stream.demand;
        slot->stream = stream;
        if (at.bound > rate_ || !at.server.empty()) {
            check(place, now);
        }
    }
    /// Follows the streams of the place if they do not fit.
    void check(std::uint32_t place, Time now);
    void hold_up(std::uint32_t place, SharedServer::Key key);
    /// All streams of the link's message have ended.
    bool has_ended(std::uint32_t server, Time now);
    void set_wake(std::uint32_t place);
    void link_ended(std::uint32_t server, Time now);

    std::int64_t rate_ = 0;
    std::vector<Place> places_;
    std::vector<std::uint32_t> known_slots_;   ///< [3 x link or resource + kind]: the last found
    std::map<std::uint32_t, Followed> links_;  ///< by server
    std::map<MessageId, Late> late_;
    std::vector<FreedLink> freed_;
    std::vector<Arriving> arriving_;
    std::vector<Wake> to_post_;
    std::vector<std::uint32_t> held_on_;
};

}  // namespace podsim::sim
