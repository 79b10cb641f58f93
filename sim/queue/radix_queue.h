// The default queue: a radix heap over monotone integer time, with buckets in the order of arrival.
//
// Let L be a time not after any pending one, and t >= L a pending time. Let k be the highest digit
// (of kDigitBits bits) in which t and L differ. The event lies in bucket (k, digit k of t), or in
// (0, digit 0 of L) if t = L. All pending times of lower k are earlier.
//
// When the first non-empty bucket is taken, its earliest time becomes L. If all its events share
// one time, the bucket itself is handed over. If they are few, they are sorted into the front;
// later pushes before the end of that bucket's times go there too, as long as the front stays
// short. Otherwise the earliest are handed over and the others move to buckets of lower k. So an
// event moves at most once per digit, and seldom through the lowest, at which nearly every bucket
// would hold one.
//
// Ties keep their push order without a number: events of one time always lie in one bucket, or in
// the front. Pushes append to a bucket or go behind their like in the front, and moves keep the
// order.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/queue/event.h"

namespace podsim::sim {

class RadixQueue {
public:
    static constexpr bool kInlinedInPlayer = true;

    RadixQueue() { make_room(kFirstRoom); }

    [[nodiscard]] bool empty() const { return first_ == end_ && levels_ == 0; }
    /// Counts the events in all buckets.
    [[nodiscard]] std::size_t size() const {
        std::size_t size = in_front().size();
        for (const Bucket& bucket : buckets_) {
            size += count_of(bucket.first);
        }
        return size;
    }

    /// Precondition: not before the time last popped.
    void push(const Event& event) {
        assert(event.time >= popped_ && "a radix heap cannot go back in time");
        if (bits(event.time) < front_end_) {
            add_to_front(event);
        } else {
            put(event);
        }
    }

    Event pop() {
        if (first_ == end_) {
            take_to_front(take_earliest());
        }
        popped_ = first_->time;
        return *first_++;
    }

    /// Replaces `instant` by all events of the earliest time, in order.
    void pop_instant(std::vector<Event>& instant) {
        instant.clear();
        if (first_ == end_) {
            const Taken taken = take_earliest();
            if (taken.alike) {
                popped_ = last_;
                append(taken.chain, instant);
                return;
            }
            take_to_front(taken);
        }
        popped_ = first_->time;
        const Event* const first = first_++;
        while (first_ != end_ && first_->time == popped_) {
            ++first_;
        }
        instant.assign(first, static_cast<const Event*>(first_));
        if (front_end_ == 0 && more_of_instant()) {
            append(take_earliest().chain, instant);
        }
    }

    /// True if events of the time last popped are pending.
    [[nodiscard]] bool more_of_instant() const {
        if (first_ != end_) {
            return first_->time == popped_;
        }
        return front_end_ == 0 && buckets_[bits(popped_) & (kDigits - 1)].first != nullptr;
    }

    /// Returns the pending events; those of one time are in push order.
    [[nodiscard]] std::vector<Event> pending() const {
        std::vector<Event> events(first_, end_);
        for (const Bucket& bucket : buckets_) {
            for (const Chunk* chunk = bucket.first; chunk != nullptr; chunk = chunk->next) {
                const std::span<const Event> in_chunk = events_of(*chunk);
                events.insert(events.end(), in_chunk.begin(), in_chunk.end());
            }
        }
        return events;
    }

    /// Moves every event later by `later_by` and rewrites its content. Keeps the order.
    template <class Rewrite>
    void skip(Time later_by, Rewrite rewrite) {
        const std::vector<Event> events = pending();
        const Time popped = popped_ + later_by;
        *this = RadixQueue();
        last_ = popped_ = popped;
        for (const Event& event : events) {
            push({event.time + later_by, rewrite(event.what)});
        }
    }

private:
    static constexpr unsigned kDigitBits = 8;
    static constexpr unsigned kLevels = (63 + kDigitBits - 1) / kDigitBits;
    static constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
    static constexpr std::size_t kWords = kDigits / 64;

    static std::uint64_t bits(Time time) { return static_cast<std::uint64_t>(time.ps); }

    /// A chunk of a bucket's chain of events. Few buckets hold more than one, and none ever moves
    /// to grow.
    struct alignas(64) Chunk {
        std::array<Event, 31> events;
        Chunk* next = nullptr;
        std::size_t count = 0;
    };
    static_assert(sizeof(Chunk) == 512);
    struct Bucket {
        Chunk* first = nullptr;
        Chunk* last = nullptr;
    };

    void put(const Event& event) {
        const std::uint64_t differs = bits(event.time) ^ bits(last_);
        const auto level = (static_cast<unsigned>(std::bit_width(differs | 1)) - 1) / kDigitBits;
        const std::size_t digit = (bits(event.time) >> (level * kDigitBits)) & (kDigits - 1);
        Bucket& bucket = buckets_[level * kDigits + digit];
        if (bucket.first == nullptr) {
            occupied_[level * kWords + digit / 64] |= std::uint64_t{1} << (digit % 64);
            levels_ |= 1U << level;
            bucket.first = bucket.last = unused_chunk();
        } else if (bucket.last->count == bucket.last->events.size()) {
            bucket.last = bucket.last->next = unused_chunk();
        }
        bucket.last->events[bucket.last->count++] = event;
    }

    [[gnu::noinline]] void add_chunks() {
        constexpr std::size_t kTogether = 32;
        const auto& chunks = chunks_.emplace_back(std::make_unique<Chunk[]>(kTogether));
        for (std::size_t i = 0; i < kTogether; ++i) {
            chunks[i].next = std::exchange(unused_, &chunks[i]);
        }
    }
    Chunk* unused_chunk() {
        if (unused_ == nullptr) {
            add_chunks();
        }
        Chunk* const chunk = unused_;
        unused_ = std::exchange(chunk->next, nullptr);
        return chunk;
    }
    /// Frees the chunk and returns the next one of its chain.
    Chunk* release(Chunk* chunk) {
        chunk->count = 0;
        return std::exchange(chunk->next, std::exchange(unused_, chunk));
    }
    static std::span<const Event> events_of(const Chunk& chunk) {
        return {chunk.events.data(), chunk.count};
    }

    /// The events of the first bucket that need not be distributed again.
    struct Taken {
        Chunk* chain = nullptr;
        /// True: all have the earliest time, last_. False: they are few and need sorting.
        bool alike = false;
    };
    /// Takes the earliest events. Precondition: the front is empty and the queue is not.
    Taken take_earliest() {
        front_end_ = 0;
        while (true) {
            assert(levels_ != 0 && "the queue is empty");
            const auto level = static_cast<unsigned>(std::countr_zero(levels_));
            Chunk* chunk = take_first_bucket(level);
            last_ = chunk->events[0].time;
            if (level == 0 || all_of_time(chunk, last_)) {
                return {chunk, true};
            }
            const std::uint64_t bucket = bits(last_) >> (level * kDigitBits);
            last_ = Time{static_cast<std::int64_t>(bucket << (level * kDigitBits))};
            if (chunk->next == nullptr || chunk->next->next == nullptr) {
                front_end_ = (bucket + 1) << (level * kDigitBits);
                return {chunk, false};
            }
            for (; chunk != nullptr; chunk = release(chunk)) {
                __builtin_prefetch(chunk->next);
                for (const Event& event : events_of(*chunk)) {
                    put(event);
                }
            }
        }
    }

    static bool all_of_time(const Chunk* chunk, Time time) {
        for (; chunk != nullptr; chunk = chunk->next) {
            if (!std::ranges::all_of(events_of(*chunk),
                                     [time](const Event& event) { return event.time == time; })) {
                return false;
            }
        }
        return true;
    }

    /// Takes the first non-empty bucket of the level and returns its chain.
    Chunk* take_first_bucket(unsigned level) {
        std::uint64_t* words = &occupied_[level * kWords];
        std::size_t word = 0;
        while (words[word] == 0) {
            ++word;
        }
        const std::size_t digit =
            word * 64 + static_cast<std::size_t>(std::countr_zero(words[word]));
        words[word] &= words[word] - 1;
        std::uint64_t any = 0;
        for (; word < kWords; ++word) {
            any |= words[word];
        }
        levels_ ^= any == 0 ? 1U << level : 0;
        return std::exchange(buckets_[level * kDigits + digit], {}).first;
    }

    static std::size_t count_of(const Chunk* chunk) {
        std::size_t count = 0;
        for (; chunk != nullptr; chunk = chunk->next) {
            count += chunk->count;
        }
        return count;
    }

    void append(Chunk* chunk, std::vector<Event>& out) {
        for (; chunk != nullptr; chunk = release(chunk)) {
            const std::span<const Event> events = events_of(*chunk);
            out.insert(out.end(), events.begin(), events.end());
        }
    }

    [[nodiscard]] std::span<Event> in_front() const { return {first_, end_}; }
    /// Returns the start of a refilled front: behind the sentinel that is before all events.
    [[nodiscard]] Event* start() { return room_.data() + 1; }

    /// Fills the front, which is empty.
    void take_to_front(const Taken& taken) {
        const std::size_t count = taken.alike ? count_of(taken.chain) : kMany;
        if (room_.size() <= count) {
            make_room(2 * count);
        }
        first_ = end_ = start();
        for (Chunk* chunk = taken.chain; chunk != nullptr; chunk = release(chunk)) {
            const std::span<const Event> events = events_of(*chunk);
            if (taken.alike) {
                end_ = std::copy(events.begin(), events.end(), end_);
                continue;
            }
            for (const Event& event : events) {
                insert(end_++, event);
            }
        }
    }

    /// Inserts the event at `hole`, behind its like. The search begins at the end, since a pushed
    /// event is mostly later than most. The entry before the front is not later than any.
    static void insert(Event* hole, const Event& event) {
        for (; hole[-1].time > event.time; --hole) {
            *hole = hole[-1];
        }
        *hole = event;
    }

    void add_to_front(const Event& event) {
        if (first_ == end_) {
            first_ = start();
            *first_ = event;
            end_ = first_ + 1;
            return;
        }
        if (end_ - first_ >= kMany) {
            shorten_front();
            if (bits(event.time) >= front_end_) {
                put(event);
                return;
            }
        }
        if (event.time < first_[(end_ - first_) / 2].time && first_ != start()) {
            insert_early(event);
            return;
        }
        if (end_ == limit_) {
            make_way();
        }
        insert(end_++, event);
    }

    /// Inserts before the middle of the front: earlier events move up into the room that popped
    /// ones have left.
    void insert_early(const Event& event) {
        Event* hole = --first_;
        for (; hole[1].time <= event.time; ++hole) {
            *hole = hole[1];
        }
        *hole = event;
    }

    /// Moves the later half of the front back to buckets, except for events with the time of the
    /// first.
    [[gnu::noinline]] void shorten_front() {
        const std::span<Event> front = in_front();
        const Time middle = front[front.size() / 2].time;
        const auto from = middle == front[0].time
                              ? std::ranges::upper_bound(front, middle, {}, &Event::time)
                              : std::ranges::lower_bound(front, middle, {}, &Event::time);
        if (from == front.end()) {
            return;
        }
        front_end_ = bits(from->time);
        std::for_each(from, front.end(), [this](const Event& event) { put(event); });
        end_ -= front.end() - from;
    }

    /// Makes room behind the front: moves it to the start or allocates more.
    [[gnu::noinline]] void make_way() {
        const std::size_t count = in_front().size();
        if (2 * count > room_.size()) {
            const std::vector<Event> front(first_, end_);
            make_room(2 * room_.size());
            std::ranges::copy(front, start());
        } else {
            std::copy(first_, end_, start());
        }
        first_ = start();
        end_ = first_ + count;
    }
    /// Allocates the room. Precondition: the front is empty.
    void make_room(std::size_t events) {
        room_.assign(events, {.time = Time{-1}, .what = 0});
        first_ = end_ = start();
        limit_ = room_.data() + events;
    }

    /// The front is too long from this size on.
    static constexpr std::ptrdiff_t kMany = 64;
    static constexpr std::size_t kFirstRoom = 256;

    std::array<Bucket, kLevels * kDigits> buckets_{};
    /// Bit: the bucket holds events.
    std::array<std::uint64_t, kLevels * kWords> occupied_{};
    /// Bit: a bucket of the level holds events.
    std::uint32_t levels_ = 0;
    /// L, the base of the buckets.
    Time last_;
    /// Time last popped.
    Time popped_;
    /// The front: events earlier than all in buckets. It holds one instant if front_end_ is 0,
    /// otherwise it is sorted.
    Event* first_ = nullptr;
    Event* end_ = nullptr;
    /// End of the room.
    Event* limit_ = nullptr;
    /// Starts with a sentinel that is before all events.
    std::vector<Event> room_;
    /// Pushed events before this time go to the front.
    std::uint64_t front_end_ = 0;
    std::vector<std::unique_ptr<Chunk[]>> chunks_;
    Chunk* unused_ = nullptr;
};

}  // namespace podsim::sim
