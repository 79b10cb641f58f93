// Pending events (pending_events.h) with one event in the queue for each hop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/queue/event.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_codec.h"
#include "sim/state/message_pool.h"
#include "sim/state/pending_events.h"

namespace podsim::sim {

template <class Queue>
class EventPerHop {
public:
    using Members = std::span<const std::uint32_t, 1>;
    static constexpr std::size_t kMostMembers = 1;  ///< members of a batch
    /// True for queues that ask for it, since each takes half a minute to compile.
    static constexpr bool kInlined = kInlineHotPath && Queue::kInlinedInPlayer;

    explicit EventPerHop(const EventCodec& codec) : codec_(codec) {}

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    /// Always false: play_earliest also plays the events that are added meanwhile.
    [[nodiscard]] static constexpr bool more_of_instant() { return false; }
    [[nodiscard]] std::vector<Event> pending() const { return queue_.pending(); }

    void task(EventKind kind, Time time, std::uint32_t task, std::uint32_t place) {
        queue_.push({time, codec_.of(kind, {.number = task, .place = place, .transfer = 0})});
    }
    /// The content that like events share; only the member is missing.
    struct Group {
        Time time;
        std::uint64_t what = 0;
        unsigned member_shift = 0;
    };
    Group links_free(Time time, std::uint32_t /*port*/) const {
        return {time, EventCodec::of(EventKind::link_free, 0), EventCodec::number_shift()};
    }
    std::pair<Group, std::uint32_t> heads_arrived(Time time, std::uint32_t& /*wave*/,
                                                  Messages& messages,
                                                  const Message& message) const {
        const std::uint32_t number = messages.add(message);
        return {{time, EventCodec::of(EventKind::head_arrived, number), EventCodec::source_shift()},
                number};
    }
    Group transfers_arrived(Time time, std::uint32_t& /*wave*/, std::uint32_t operation,
                            std::uint32_t transfer) const {
        return {time,
                codec_.of(EventKind::transfer_arrived,
                          {.number = operation, .place = 0, .transfer = transfer}),
                codec_.place_shift()};
    }
    void add(const Group& group, std::uint32_t member) {
        queue_.push({group.time, group.what | std::uint64_t{member} << group.member_shift});
    }

    template <class Deliver>
    Time play_earliest(const Deliver& deliver) {
        Event event;
        do {
            event = queue_.pop();
            play(event.what, event.time, deliver);
        } while (queue_.more_of_instant());
        return event.time;
    }

    template <class Rewrite>
    void skip(const Skipped& skipped, const Rewrite& rewrite) {
        queue_.skip(skipped.later_by, rewrite);
    }

    static constexpr bool kReplaces = true;
    void replace(const std::vector<Event>& events) {
        queue_ = Queue();
        for (const Event& event : events) {
            queue_.push(event);
        }
    }

private:
    template <class Deliver>
    void play(std::uint64_t what, Time now, const Deliver& deliver) const {
        const EventKind kind = EventCodec::kind(what);
        const std::uint32_t number = EventCodec::number(what);
        if (kind == EventKind::link_free) {
            deliver(now, Batch<Members>{.kind = kind, .members = Members(&number, 1)});
            return;
        }
        if (kind == EventKind::head_arrived) {
            const std::uint32_t source = EventCodec::source(what);
            deliver(now,
                    Batch<Members>{.kind = kind, .number = number, .members = Members(&source, 1)});
            return;
        }
        const EventCodec::Fields fields = codec_.fields(what);
        deliver(now, Batch<Members>{.kind = kind,
                                    .number = fields.number,
                                    .transfer = fields.transfer,
                                    .members = Members(&fields.place, 1)});
    }

    EventCodec codec_;
    Queue queue_;
};

}  // namespace podsim::sim
