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
// it is found out once for each place to which something has happened, before the clock goes on (`settle`). On machines of many places
// that are alike, those that do the same have one memory, as long as they do (memory_groups.h).
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
#include "sim/memory/memory_group.h"
#include "sim/memory/memory_groups.h"
#include "sim/memory/shared_server.h"
#include "sim/memory/stream_ways.h"
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
    /// A message crosses a link until `end`, later than now: it, and each of its copies, reads its source's memory and
    /// writes its destination's at these demands; 0: it does not.
    struct Hold {
        HeldMessage message{};
        std::int64_t reads = 0;
        std::int64_t writes = 0;
        Time end;
    };

    explicit Memories(const Workload& workload);

    /// Whether the demands can exceed the memory anywhere; where not, nobody need call what follows.
    [[nodiscard]] bool active() const { return !groups_.empty(); }
    /// Whether the demands can exceed that place's memory.
    [[nodiscard]] bool at_risk(std::uint32_t place) const { return groups_.of(place).at_risk; }

    /// Work of the place begins that takes `alone` at its demand.
    void begin_work(std::uint32_t place, std::uint32_t resource, std::uint32_t task,
                    std::int64_t demand, Time alone, Time now);
    /// Whether the work, which would now end alone, does so; if not it will be among those that a wake ends.
    bool ends_now(std::uint32_t place, std::uint32_t task, Time now);

    // The beginning of a hold is said in one way where places are taken together, and in another where they are not.
    [[nodiscard]] bool together() const { return together_; }
    /// Together: begins the hold from the sources that are put here until the instant is over; its message is without its source.
    /// `row`: the number of the message's link, less that of its place. The shifts lead from the source there and to the destination.
    std::vector<std::uint32_t>& sources_of(const Hold& hold, std::uint32_t row,
                                           std::uint32_t hop_shift, std::uint32_t to_shift);
    /// Apart: begins the hold on that link, to that destination.
    void begin_hold(std::uint32_t server, const Hold& hold, std::uint32_t to) {
        if (server >= of_links_.size()) {
            of_links_.resize(server + 1);
        }
        OfLink& link = of_links_[server];
        if (hold.reads > 0) {
            begin(hold.message.source, {MemoryGroup::kRead, server}, link.read, hold, hold.reads);
        }
        if (hold.writes > 0) {
            begin(to, {MemoryGroup::kWrite, server}, link.written, hold, hold.writes);
        }
    }
    /// Whether the message, which would now arrive, does so; if not it will be among those that arrive later.
    bool arrives(const MessageId& message, Time now);
    /// Whether any message may arrive later than its links alone would have it.
    [[nodiscard]] bool any_late() const { return !late_.empty(); }

    /// An event of the place: tasks that end late now at each of wakes_with(), until the next, while links and messages are kept for
    /// the next two calls.
    const std::vector<std::uint32_t>& wake(std::uint32_t place, Time now);
    /// Places whose memory is that of the place.
    [[nodiscard]] const std::vector<std::uint32_t>& wakes_with(std::uint32_t place) const {
        return groups_.of(place).places;
    }
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
    [[nodiscard]] bool any_unsettled() const { return !unsettled_.empty() || groups_.any_begun(); }
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

    static constexpr std::uint32_t kWork = MemoryGroup::kWork;  ///< number: task

    /// Whether all that was followed has been read and written, to the last byte, and holds nothing up.
    [[nodiscard]] bool settled_up() const;

    // What reuse must know of the state.
    /// A stream that has not ended.
    struct StreamState {
        SharedServer::Key key;  ///< kWork and a task, or a kind and a server
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
    /// What repeats was skipped: the state of these places, which are all of a graph, moves, with tasks that many on and operations as
    /// `image_of` says.
    void skip(const std::vector<std::uint32_t>& places, Time later_by, std::uint32_t tasks,
              const ImageOf& image_of);

private:
    /// Where a stream of a link was last: its place, and the slot there.
    struct Known {
        std::uint32_t place = kNoPlace;
        std::uint32_t slot = 0;
    };
    struct OfLink {
        Known read{};
        Known written{};
    };

    template <class Item, class Use>
    static void take(std::vector<Item>& items, const Use& use) {
        std::ranges::for_each(items, use);
        items.clear();
    }

    Memories(const Workload& workload, const std::vector<bool>& at_risk);
    /// A message's stream begins at a place that is not taken together with others. `owner`: its kind and link.
    void begin(std::uint32_t place, SharedServer::Key owner, Known& known, const Hold& hold,
               std::int64_t demand) {
        MemoryGroup& group = groups_[place];
        if (!group.at_risk) {
            return;
        }
        if (known.place != place) {
            known = {place, static_cast<std::uint32_t>(group.find_slot(owner))};
        }
        group.streams[known.slot].message = hold.message;
        group.load(known.slot, demand * hold.message.copies, hold.end);
        settle_if_many(place);
    }
    void settle_if_many(std::uint32_t group) {
        if (groups_[group].bound > rate_) {
            settle_later(group);
        }
    }
    void settle_later(std::uint32_t group) {
        if (!std::exchange(groups_[group].unsettled, true)) {
            unsettled_.push_back(group);
        }
    }
    void settle_group(std::uint32_t number, Time now);
    /// The link of a message's stream at a place, and where the message comes from.
    [[nodiscard]] std::uint32_t link(SharedServer::Key key, std::uint32_t place) const {
        return together_ ? ways_.link(key.number, place) : key.number;
    }
    void hold_up(MemoryGroup& group, SharedServer::Key key);
    void hold_up(const MemoryGroup& group, std::size_t slot, std::uint32_t place);
    /// All streams of the link's message have ended.
    bool has_ended(std::uint32_t server, Time now);
    /// The streams that are followed have changed.
    void set_wake(MemoryGroup& group);
    void link_ended(std::uint32_t server, Time now);

    const std::vector<OperationSpec>& operations_;
    std::int64_t rate_ = 0;
    bool together_ = false;  ///< places that do the same
    MemoryGroups groups_;
    StreamWays ways_;
    std::vector<OfLink> of_links_;  ///< [server]; empty where places are taken together
    FollowedLinks links_;
    LateMessages late_;
    std::vector<std::uint32_t> unsettled_;          ///< groups
    std::vector<SharedServer::Key> ended_streams_;  ///< at a wake
    std::vector<std::uint32_t> ended_tasks_;
    std::vector<FreedLink> freed_;
    std::vector<Arriving> arriving_;
    std::vector<Wake> to_post_;
    std::vector<std::uint32_t> held_on_;
};

}  // namespace podsim::sim
