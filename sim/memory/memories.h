// The memories (HBM) of the places: their readers and writers, and the events that wait for them.
//
// Work reads evenly over its time. It slows down as a whole if it gets less than it asks for:
// nothing can be computed before its data has arrived. A message reads its source's memory while it
// holds its first link, and writes its destination's while it holds its last. Both last from the
// start of the hold to its end; the latency of the last bit is neglected. Chips in between are
// crossed, not stored in. A link is held until read and write have both ended, and the message
// arrives later by the time that its links were held longer.
//
// Nothing is scheduled while the demands at a place fit its memory: a stream is then only a demand
// and an end in a slot. Once they do not fit, all streams of the place that have not ended are
// followed. A server shares the memory (shared_server.h), and one event of the place, its wake, is
// due when the next stream ends. Events of work and messages before the end of their streams are
// deferred. A message whose streams get all that they ask for is on time, and its link frees by
// itself. Streams that are added while demands fit again are not followed.
//
// The set of followed streams and held links at the end of an instant does not depend on the order
// of its events. Demands only grow within an instant, since a stream that ends in it is not counted
// in it, and shares only shrink. So both are determined once for each affected place, before the
// clock advances (`settle`). On machines of many like places, places that do the same have one
// memory as long as they do (memory_groups.h).
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/time.h"
#include "sim/memory/memory_group.h"
#include "sim/memory/memory_groups.h"
#include "sim/memory/shared_server.h"
#include "sim/memory/stream_ways.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// At most kMost values, in the order in which they were added.
template <class T, std::size_t kMost>
class Few {
public:
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] const T* begin() const { return values_.data(); }
    [[nodiscard]] const T* end() const { return values_.data() + count_; }
    [[nodiscard]] bool contains(const T& value) const {
        return std::find(begin(), end(), value) != end();
    }

    void push_back(const T& value) {
        assert(count_ < kMost);
        values_[count_++] = value;
    }
    /// Removes the value. Returns true if it was there.
    bool erase(const T& value) {
        T* const last = values_.data() + count_;
        T* const left = std::remove(values_.data(), last, value);
        count_ = static_cast<std::size_t>(left - values_.data());
        return left != last;
    }

private:
    std::array<T, kMost> values_{};
    std::size_t count_ = 0;
};

struct FollowedLink {
    /// A late stream at a place's memory.
    struct Late {
        std::uint32_t place = 0;
        SharedServer::Key key;

        friend bool operator==(const Late&, const Late&) = default;
    };

    HeldMessage message;
    Time due;              ///< time at which it would have been free
    Few<Late, 2> streams;  ///< late ones
};

/// A table by server with an entry for each server, so that a lookup is one read.
class FollowedLinks {
public:
    [[nodiscard]] bool empty() const { return followed_.empty(); }
    [[nodiscard]] bool contains(std::uint32_t server) const {
        return server < by_server_.size() && by_server_[server].turn != kNotFollowed;
    }
    /// Precondition: the link is followed.
    [[nodiscard]] FollowedLink& operator[](std::uint32_t server) { return by_server_[server].link; }
    [[nodiscard]] const FollowedLink& operator[](std::uint32_t server) const {
        return by_server_[server].link;
    }
    /// Returns the servers in ascending order.
    [[nodiscard]] std::vector<std::uint32_t> servers() const {
        std::vector<std::uint32_t> sorted = followed_;
        std::ranges::sort(sorted);
        return sorted;
    }

    /// Precondition: the link is not followed.
    void add(std::uint32_t server, const HeldMessage& message, Time due) {
        if (server >= by_server_.size()) {
            by_server_.resize(server + 1);
        }
        by_server_[server] = {{message, due, {}}, static_cast<std::uint32_t>(followed_.size())};
        followed_.push_back(server);
    }
    /// Stops following the link. The last of `followed_` takes its index. Precondition: the link is
    /// followed.
    void erase(std::uint32_t server) {
        const std::uint32_t turn = std::exchange(by_server_[server].turn, kNotFollowed);
        followed_[turn] = followed_.back();
        if (followed_[turn] != server) {
            by_server_[followed_[turn]].turn = turn;
        }
        followed_.pop_back();
    }

private:
    static constexpr std::uint32_t kNotFollowed = 0xffffffff;

    struct Entry {
        FollowedLink link;
        std::uint32_t turn = kNotFollowed;  ///< index in followed_
    };

    std::vector<Entry> by_server_;
    std::vector<std::uint32_t> followed_;
};

struct LateMessage {
    MessageId id;
    /// Servers that are followed and not yet free: its first link, its last.
    Few<std::uint32_t, 2> links;
    /// Delay of its followed links that are free already.
    Time by;
    /// Arrival by its links alone, set when that time has passed.
    std::optional<Time> arrival;
    bool arrived = false;
};

/// Late messages by source: few of one source are late at a time.
class LateMessages {
public:
    explicit LateMessages(std::size_t places) : of_source_(places) {}

    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// Returns nullptr if the message is not late. The pointer is valid until the next add or
    /// erase.
    [[nodiscard]] LateMessage* find(const MessageId& id) {
        std::vector<LateMessage>& all = of_source_[id.source];
        const auto found = std::ranges::find(all, id, &LateMessage::id);
        return found == all.end() ? nullptr : &*found;
    }
    LateMessage& find_or_add(const MessageId& id) {
        if (LateMessage* const found = find(id)) {
            return *found;
        }
        ++count_;
        LateMessage& added = of_source_[id.source].emplace_back();
        added.id = id;
        return added;
    }
    void erase(LateMessage* message) {
        std::vector<LateMessage>& all = of_source_[message->id.source];
        *message = all.back();
        all.pop_back();
        --count_;
    }
    /// Calls use(LateMessage&) for each; `use` may renumber its operation.
    template <class Use>
    void for_each(const Use& use) {
        for (std::vector<LateMessage>& all : of_source_) {
            std::ranges::for_each(all, use);
        }
    }
    /// Returns the late messages, sorted by id.
    [[nodiscard]] std::vector<LateMessage> sorted() const {
        std::vector<LateMessage> sorted;
        sorted.reserve(count_);
        for (const std::vector<LateMessage>& all : of_source_) {
            sorted.insert(sorted.end(), all.begin(), all.end());
        }
        std::ranges::sort(sorted, {}, &LateMessage::id);
        return sorted;
    }

private:
    std::vector<std::vector<LateMessage>> of_source_;
    std::size_t count_ = 0;
};

class Memories {
public:
    /// A followed link that is free now, or a message that arrives at its destination at `time`.
    struct FreedLink {
        std::uint32_t server = 0;
        Time due;  ///< time at which it would have been free
        HeldMessage message;
    };
    struct Arriving {
        MessageId message;
        Time time;
    };
    /// A wake to be posted: an event of the place at that time.
    struct Wake {
        Time time;
        std::uint32_t place = 0;
    };
    /// A message crosses a link until `end`, later than now. It, and each of its copies, reads its
    /// source's memory and writes its destination's at these demands; 0: it does not read, or not
    /// write.
    struct Hold {
        HeldMessage message{};
        std::int64_t reads = 0;
        std::int64_t writes = 0;
        Time end;
    };

    explicit Memories(const Workload& workload);

    /// True if the demands can exceed a memory anywhere. If false, the functions below need not be
    /// called.
    [[nodiscard]] bool active() const { return !groups_.empty(); }
    /// True if the demands can exceed that place's memory.
    [[nodiscard]] bool at_risk(std::uint32_t place) const { return groups_.of(place).at_risk; }

    /// Begins work of the place that takes `alone` at its full demand.
    void begin_work(std::uint32_t place, std::uint32_t resource, std::uint32_t task,
                    std::int64_t demand, Time alone, Time now);
    /// Returns false if HBM contention delays this end of work; a wake will report its end.
    bool ends_now(std::uint32_t place, std::uint32_t task, Time now);

    // A hold begins by sources_of() if like places are grouped, and by begin_hold() if not.
    [[nodiscard]] bool together() const { return together_; }
    /// Grouped: begins the hold at the sources that the caller adds to the returned list until the
    /// instant ends. The message has no source. `row` is the number of the message's link, less
    /// that of its place. The shifts lead from the source to the link's place and to the
    /// destination.
    std::vector<std::uint32_t>& sources_of(const Hold& hold, std::uint32_t row,
                                           std::uint32_t hop_shift, std::uint32_t to_shift);
    /// Ungrouped: begins the hold on link `server`, with destination `to`.
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
    /// Returns false if HBM contention delays this arrival; the message then arrives later
    /// (take_arriving).
    bool arrives(const MessageId& message, Time now);
    /// True if any message may arrive later than its links alone would allow.
    [[nodiscard]] bool any_late() const { return !late_.empty(); }

    /// Handles a wake of the place. Returns the delayed tasks that end now at each of wakes_with(),
    /// valid until the next call. take_freed() and take_arriving() then report links and messages.
    const std::vector<std::uint32_t>& wake(std::uint32_t place, Time now);
    /// Returns the places that share the place's memory group.
    [[nodiscard]] const std::vector<std::uint32_t>& wakes_with(std::uint32_t place) const {
        return groups_.of(place).places;
    }
    /// Calls use(FreedLink) or use(Arriving) for each one since the last call.
    template <class Use>
    void take_freed(const Use& use) {
        take(freed_, use);
    }
    template <class Use>
    void take_arriving(const Use& use) {
        take(arriving_, use);
    }
    [[nodiscard]] bool any_freed() const { return !freed_.empty() || !arriving_.empty(); }
    /// True if something has happened that `settle` has not processed.
    [[nodiscard]] bool any_unsettled() const { return !unsettled_.empty() || groups_.any_begun(); }
    /// Shares the memories of the places affected at this instant; take_to_post() and
    /// take_held_on() then report the results.
    void settle(Time now);
    /// Calls use(Wake), or use(server) for each link that is held until take_freed() reports it.
    template <class Use>
    void take_to_post(const Use& use) {
        take(to_post_, use);
    }
    template <class Use>
    void take_held_on(const Use& use) {
        take(held_on_, use);
    }

    static constexpr std::uint32_t kWork = MemoryGroup::kWork;  ///< number: task

    /// True if all followed streams have been read and written completely and delay nothing.
    [[nodiscard]] bool settled_up() const;

    // State that sim/folding compares.
    struct StreamState {
        SharedServer::Key key;  ///< kWork and a task, or a kind and a server
        std::int64_t demand = 0;
        bool followed = false;
        bool overdue = false;
        std::int64_t share = 0;  ///< valid if followed
        Work left = 0;
    };
    [[nodiscard]] std::vector<StreamState> streams(std::uint32_t place, Time now) const;
    /// Returns nullopt if no wake is due.
    [[nodiscard]] std::optional<Time> wake_of(std::uint32_t place) const;
    [[nodiscard]] const FollowedLinks& followed_links() const { return links_; }
    [[nodiscard]] const LateMessages& late_messages() const { return late_; }
    /// Maps an operation to its image; nullopt for operations that stay.
    using ImageOf = std::function<std::optional<std::uint32_t>(std::uint32_t)>;
    /// Moves the state of these places, which are all places of a graph, after a skipped repeat.
    /// Tasks move by `tasks` and operations by `image_of`.
    void skip(const std::vector<std::uint32_t>& places, Time later_by, std::uint32_t tasks,
              const ImageOf& image_of);

private:
    /// The last place of a link's stream, and its slot there.
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
    /// Begins a message's stream at a place that is not grouped with others. `owner` is its kind
    /// and link.
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
    /// Returns the link of a message's stream at a place.
    [[nodiscard]] std::uint32_t link(SharedServer::Key key, std::uint32_t place) const {
        return together_ ? ways_.link(key.number, place) : key.number;
    }
    void hold_up(MemoryGroup& group, SharedServer::Key key);
    void hold_up(const MemoryGroup& group, std::size_t slot, std::uint32_t place);
    /// True if all streams of the link's message have ended.
    bool has_ended(std::uint32_t server, Time now);
    /// Updates the wake after a change of the followed streams.
    void set_wake(MemoryGroup& group);
    void link_ended(std::uint32_t server, Time now);

    const std::vector<OperationSpec>& operations_;
    std::int64_t rate_ = 0;
    /// True: places that do the same share a group.
    bool together_ = false;
    MemoryGroups groups_;
    StreamWays ways_;
    std::vector<OfLink> of_links_;  ///< [server]; empty if places are grouped
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
