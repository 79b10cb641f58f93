// The default queue: a radix heap over monotone integer time, with buckets in the order of arrival.
//
// With L the time last popped and t >= L a pending time, let k be the highest digit (of kDigitBits bits) in
// which t and L differ: the event lies in bucket (k, digit k of t), or in (0, digit 0 of L) when t = L. All
// pending times of lower k are earlier. To pop, take the first bucket that holds anything: its earliest time
// becomes L, its events of that time are the result, and the others move to buckets of lower k. So an event
// moves at most once per digit, and never where all of its bucket share one time: then the bucket itself is
// handed over.
//
// Order among ties: events of one time always lie in one bucket, pushes append to it and moves keep its order,
// so they are popped in the order in which they were pushed, without a number to say so.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/event.h"

namespace podsim::sim {

class RadixQueue {
public:
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// Precondition: not before the time last popped.
    void push(const Event& event) {
        assert(event.time >= last_ && "a radix heap cannot go back in time");
        ++size_;
        place(event);
    }

    Event pop() {
        if (next_ == current_.size()) {
            next_ = 0;
            take_earliest(current_);
        }
        --size_;
        return current_[next_++];
    }

    /// Replaces `instant` by all events of the earliest time, in order.
    void pop_instant(std::vector<Event>& instant) {
        if (next_ < current_.size()) {
            instant.assign(current_.begin() + static_cast<std::ptrdiff_t>(next_), current_.end());
            current_.clear();
            next_ = 0;
            if (more_of_instant()) {
                take_earliest(current_);
                instant.insert(instant.end(), current_.begin(), current_.end());
                next_ = current_.size();
            }
            size_ -= instant.size();
            return;
        }
        take_earliest(instant);
        size_ -= instant.size();
    }

    /// Whether events of the time last popped are pending.
    [[nodiscard]] bool more_of_instant() const {
        return next_ < current_.size() || !buckets_[bits(last_) & (kDigits - 1)].empty();
    }

    /// The pending events, those of one time in their order.
    [[nodiscard]] std::vector<Event> pending() const {
        std::vector<Event> events(current_.begin() + static_cast<std::ptrdiff_t>(next_),
                                  current_.end());
        events.reserve(size_);
        for (const std::vector<Event>& bucket : buckets_) {
            events.insert(events.end(), bucket.begin(), bucket.end());
        }
        return events;
    }

    /// Moves every event later, and rewrites what it says. Keeps the order.
    template <class Rewrite>
    void skip(Time later_by, Rewrite rewrite) {
        const std::vector<Event> events = pending();
        const Time last = last_ + later_by;
        *this = RadixQueue();
        last_ = last;
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

    void place(const Event& event) {
        const std::uint64_t differs = bits(event.time) ^ bits(last_);
        const auto level = (static_cast<unsigned>(std::bit_width(differs | 1)) - 1) / kDigitBits;
        const std::size_t digit = (bits(event.time) >> (level * kDigitBits)) & (kDigits - 1);
        std::vector<Event>& bucket = buckets_[level * kDigits + digit];
        if (bucket.empty()) {
            occupied_[level * kWords + digit / 64] |= std::uint64_t{1} << (digit % 64);
            levels_ |= 1U << level;
            if (!spare_.empty()) {
                bucket = std::move(spare_.back());
                spare_.pop_back();
            }
        }
        bucket.push_back(event);
    }

    /// Hands over the first bucket's earliest events, in exchange for an unused vector.
    void take_earliest(std::vector<Event>& out) {
        out.clear();
        assert(levels_ != 0 && "the queue is empty");
        const auto level = static_cast<std::size_t>(std::countr_zero(levels_));
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

        std::vector<Event>& bucket = buckets_[level * kDigits + digit];
        out.swap(bucket);
        spare_.push_back(std::move(bucket));
        bucket = {};
        last_ = out.front().time;
        if (level == 0) {
            return;
        }
        bool alike = true;
        for (const Event& event : out) {
            alike &= event.time == out.front().time;
            last_ = event.time < last_ ? event.time : last_;
        }
        if (alike) {
            return;
        }
        std::size_t kept = 0;
        for (const Event& event : out) {
            if (event.time == last_) {
                out[kept++] = event;
            } else {
                place(event);
            }
        }
        out.resize(kept);
    }

    std::array<std::vector<Event>, kLevels * kDigits> buckets_{};
    std::array<std::uint64_t, kLevels * kWords> occupied_{};  ///< bit: the bucket holds events
    std::uint32_t levels_ = 0;                                ///< bit: a bucket of the level does
    std::size_t size_ = 0;
    Time last_;
    std::vector<Event> current_;  ///< of the time last_, for pop
    std::size_t next_ = 0;
    std::vector<std::vector<Event>> spare_;  ///< empty, with memory
};

}  // namespace podsim::sim
