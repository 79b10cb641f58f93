// Pending events (pending_events.h) with one event in the queue for each wave of like events; the
// default.
//
// On a ring or a lattice, the places of one role do the same hop at the same time. Events that
// differ by the place alone are members of one wave. A hop stores its last wave (`wave`), so a
// single comparison finds the one to join. If nothing is alike, a wave has one member and costs one
// cache line more than a lone event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/queue/event.h"
#include "sim/state/event_codec.h"
#include "sim/state/message_pool.h"
#include "sim/state/pending_events.h"

namespace podsim::sim {

template <class Queue>
class Waves {
public:
    using Members = std::span<const std::uint32_t>;
    static constexpr std::size_t kMostMembers = 62;
    static constexpr bool kInlined = kInlineHotPath;

    explicit Waves(const EventCodec& codec) : codec_(codec) {
        waves_.push_back(std::make_unique<Wave[]>(kBlock));
        // Index 0 stands for no wave.
        wave_count_ = 1;
    }

    [[nodiscard]] bool empty() const { return queue_.empty(); }
    [[nodiscard]] bool more_of_instant() const { return queue_.more_of_instant(); }

    void task(EventKind kind, Time time, std::uint32_t task, std::uint32_t place) {
        queue_.push({time, codec_.of(kind, {.number = task, .place = place, .transfer = 0})});
    }

private:
    struct Wave;

public:
    using Group = Wave*;
    Group links_free(Time time, std::uint32_t port) {
        return group(time, key_of(kFreeNumber, port), last_free_[port % kFreeing]);
    }
    std::pair<Group, std::uint32_t> heads_arrived(Time time, std::uint32_t& wave,
                                                  Messages& messages, const Message& message) {
        const Wave& known = this->wave(wave);
        const bool joins = known.time == time && is_of_heads(known.key) &&
                           messages[number_in(known.key)].is_equally_far(message);
        const std::uint32_t number = joins ? number_in(known.key) : messages.add(message);
        if (!joins) {
            wave = begin(time, key_of(kHeadNumber, number));
        }
        return {&this->wave(wave), number};
    }
    Group transfers_arrived(Time time, std::uint32_t& wave, std::uint32_t operation,
                            std::uint32_t transfer) {
        return group(time, key_of(operation, transfer), wave);
    }
    void add(Group wave, std::uint32_t member) {
        if (wave->room == 0) {
            extend(*wave);
        }
        --wave->room;
        *wave->write++ = member;
    }

    /// Delivers the events of the earliest time. Meanwhile task events of that time may be added,
    /// but no members of waves.
    template <class Deliver>
    Time play_earliest(const Deliver& deliver) {
        queue_.pop_instant(instant_);
        const Time now = instant_.front().time;
        for (const Event& event : instant_) {
            const EventKind kind = EventCodec::kind(event.what);
            if (of_place(kind)) {
                const EventCodec::Fields fields = codec_.fields(event.what);
                deliver(now,
                        Batch<Members>{
                            .kind = kind, .number = fields.number, .members = {&fields.place, 1}});
                continue;
            }
            const std::uint32_t index = EventCodec::number(event.what);
            Wave& wave = this->wave(index);
            wave.time = kNever;
            for_each_part(wave, [&](const Batch<Members>& batch) { deliver(now, batch); });
            release(wave);
            free_waves_.push_back(index);
        }
        return now;
    }

    static constexpr bool kReplaces = false;  ///< hops keep numbers of waves

    /// Returns the events that EventPerHop would hold.
    [[nodiscard]] std::vector<Event> pending() const {
        std::vector<Event> events;
        for (const Event& event : queue_.pending()) {
            const EventKind kind = EventCodec::kind(event.what);
            if (of_place(kind)) {
                events.push_back(event);
                continue;
            }
            for_each_part(wave(EventCodec::number(event.what)), [&](const Batch<Members>& batch) {
                for (const std::uint32_t member : batch.members) {
                    events.push_back({event.time, what_of(batch, member)});
                }
            });
        }
        return events;
    }

    template <class Rewrite>
    void skip(const Skipped& skipped, const Rewrite& rewrite) {
        for (std::uint32_t index = 0; index < wave_count_; ++index) {
            Wave& wave = this->wave(index);
            if (wave.time != kNever) {
                wave.time += skipped.later_by;
                if (kind_of(wave.key) == EventKind::transfer_arrived) {
                    wave.key += key_of(skipped.operations, 0);
                }
            }
        }
        queue_.skip(skipped.later_by, [&](std::uint64_t what) {
            const EventKind kind = EventCodec::kind(what);
            return of_place(kind) ? rewrite(what) : what;
        });
    }

private:
    static constexpr Time kNever{-1};
    static constexpr std::uint32_t kInWave = 5;
    static constexpr std::uint32_t kInPart = kMostMembers;
    static constexpr std::size_t kFreeing = 64;
    static constexpr std::uint32_t kBlock = 64;

    [[nodiscard]] std::uint64_t what_of(const Batch<Members>& batch, std::uint32_t member) const {
        switch (batch.kind) {
            case EventKind::transfer_arrived:
                return codec_.of(
                    batch.kind,
                    {.number = batch.number, .place = member, .transfer = batch.transfer});
            case EventKind::head_arrived:
                return EventCodec::of(batch.kind, batch.number) | EventCodec::of_source(member);
            default:
                return EventCodec::of(batch.kind, member);
        }
    }

    /// The key of like events: arriving operation and transfer, or message, or port.
    static constexpr std::uint32_t kFreeNumber = 0xffffffff;
    static constexpr std::uint32_t kHeadNumber = 0xfffffffe;
    static std::uint64_t key_of(std::uint32_t number, std::uint32_t transfer) {
        return std::uint64_t{number} << 32 | transfer;
    }

    struct alignas(64) Part {
        Part* next = nullptr;
        std::array<std::uint32_t, kInPart> members{};
    };
    static_assert(sizeof(Part) == 256);
    /// The first members are stored in the wave itself, the others in a list of parts. Neither the
    /// wave nor its parts ever move.
    struct alignas(64) Wave {
        Time time = kNever;  ///< kNever: no event may join
        std::uint64_t key = 0;
        Part* first = nullptr;
        Part* last = nullptr;
        std::array<std::uint32_t, kInWave> members{};
        std::uint32_t room = kInWave;  ///< left at `write`
        std::uint32_t* write = members.data();
    };
    static_assert(sizeof(Wave) == 64);

    [[nodiscard]] Wave& wave(std::uint32_t index) { return waves_[index / kBlock][index % kBlock]; }
    [[nodiscard]] const Wave& wave(std::uint32_t index) const {
        return waves_[index / kBlock][index % kBlock];
    }

    /// Returns the wave of this time and key. `last` is the last wave of like events, updated if a
    /// new one begins.
    Wave* group(Time time, std::uint64_t key, std::uint32_t& last) {
        Wave* known = &wave(last);
        if (known->time != time || known->key != key) {
            last = begin(time, key);
            known = &wave(last);
        }
        return known;
    }

    std::uint32_t begin(Time time, std::uint64_t key) {
        std::uint32_t index = 0;
        if (free_waves_.empty()) {
            index = wave_count_++;
            if (index % kBlock == 0) {
                waves_.push_back(std::make_unique<Wave[]>(kBlock));
            }
        } else {
            index = free_waves_.back();
            free_waves_.pop_back();
        }
        wave(index).time = time;
        wave(index).key = key;
        queue_.push({time, EventCodec::of(kind_of(key), index)});
        return index;
    }
    static EventKind kind_of(std::uint64_t key) {
        return key >> 32 == kFreeNumber ? EventKind::link_free
               : is_of_heads(key)       ? EventKind::head_arrived
                                        : EventKind::transfer_arrived;
    }
    static bool is_of_heads(std::uint64_t key) { return key >> 32 == kHeadNumber; }
    static std::uint32_t number_in(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

    [[gnu::noinline]] void extend(Wave& wave) {
        Part* part = free_parts_;
        if (part == nullptr) {
            part = &parts_.emplace_back();
        } else {
            free_parts_ = part->next;
        }
        (wave.first == nullptr ? wave.first : wave.last->next) = part;
        wave.last = part;
        wave.write = part->members.data();
        wave.room = kInPart;
    }

    /// Prefetches a part and the memory behind it. `part` may be null, so the address is computed
    /// as a number: arithmetic on a null pointer is undefined.
    static void prefetch(const Part* part) {
        __builtin_prefetch(part);
        const auto behind = reinterpret_cast<std::uintptr_t>(part) + sizeof(Part);
        // NOLINTNEXTLINE(performance-no-int-to-ptr): never followed
        __builtin_prefetch(reinterpret_cast<const void*>(behind));
    }

    template <class Use>
    void for_each_part(const Wave& wave, const Use& use) const {
        const EventKind kind = kind_of(wave.key);
        const auto batch = [&](const std::uint32_t* members, std::uint32_t count) {
            use(Batch<Members>{.kind = kind,
                               .number = kind == EventKind::head_arrived
                                             ? number_in(wave.key)
                                             : static_cast<std::uint32_t>(wave.key >> 32),
                               .transfer = number_in(wave.key),
                               .members = {members, count}});
        };
        batch(wave.members.data(), wave.first == nullptr ? kInWave - wave.room : kInWave);
        for (const Part* part = wave.first; part != nullptr;
             part = part == wave.last ? nullptr : part->next) {
            prefetch(part->next);
            batch(part->members.data(), part == wave.last ? kInPart - wave.room : kInPart);
        }
    }

    void release(Wave& wave) {
        if (wave.first != nullptr) {
            wave.last->next = free_parts_;
            free_parts_ = wave.first;
        }
        wave.room = kInWave;
        wave.first = nullptr;
        wave.write = wave.members.data();
    }

    EventCodec codec_;
    Queue queue_;
    std::vector<Event> instant_;
    std::vector<std::unique_ptr<Wave[]>> waves_;  ///< [index / kBlock][index % kBlock]
    std::uint32_t wave_count_ = 0;
    std::vector<std::uint32_t> free_waves_;
    std::deque<Part> parts_;
    Part* free_parts_ = nullptr;
    /// [port]: last wave of links that free.
    std::array<std::uint32_t, kFreeing> last_free_{};
};

}  // namespace podsim::sim
