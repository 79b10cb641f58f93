// A calendar queue (R. Brown, "Calendar queues: a fast O(1) priority queue implementation for the
// simulation event set problem", CACM 31(10), 1988). It has days of equal width and a bucket for
// all days that are equal modulo a year.
//
// An event of time t lies in bucket floor(t / width) mod buckets. Both are powers of two, so this
// is a shift and a mask. Popping walks from day to day. The open day lies sorted in `today_`; later
// days keep the order of arrival and are sorted when they are opened. The sort is stable and events
// of one time lie together, so ties keep their push order without a number. If a whole year is
// empty, the earliest event is searched among all.
//
// The number of buckets doubles when the pending events exceed twice that number, and halves below
// half of it. The width follows Brown: three times the mean separation of the next events, without
// gaps of more than twice their mean. He samples the next 25 events. Here the sample is 64, and
// grows fourfold until it holds 8 different times, so that ties do not give a width of zero. A
// width that becomes unsuitable while the number of buckets stays shows in the steps that it costs
// (S. Oh and J. Ahn, "Dynamic calendar queue", 1999). The limit is kCostly steps a push, over as
// many pushes as there are events.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/queue/event.h"

namespace podsim::bench {

using sim::Event;
using sim::Time;

class CalendarQueue {
public:
    static constexpr bool kInlinedInPlayer = false;

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

    void push(const Event& event) {
        assert(event.time >= last_ && "a push before the time last popped");
        ++size_;
        ++pushes_;
        if (day_of(event.time) > day_) {
            bucket_of(event.time).push_back(event);
        } else {
            push_today(event);
        }
        if (size_ > 2 * buckets_.size()) {
            fill(pending(), 2 * buckets_.size());
        }
    }

    Event pop() {
        open_a_day();
        --size_;
        last_ = today_[next_].time;
        return today_[next_++];
    }
    void pop_instant(std::vector<Event>& instant) {
        open_a_day();
        last_ = today_[next_].time;
        const auto begin = today_.begin() + static_cast<std::ptrdiff_t>(next_);
        const auto end = std::find_if(begin, today_.end(),
                                      [&](const Event& event) { return event.time != last_; });
        instant.assign(begin, end);
        next_ += instant.size();
        size_ -= instant.size();
    }
    [[nodiscard]] bool more_of_instant() const {
        return next_ < today_.size() && today_[next_].time == last_;
    }

    [[nodiscard]] std::vector<Event> pending() const {
        std::vector<Event> events(today_.begin() + static_cast<std::ptrdiff_t>(next_),
                                  today_.end());
        events.reserve(size_);
        for (const std::vector<Event>& bucket : buckets_) {
            events.insert(events.end(), bucket.begin(), bucket.end());
        }
        return events;
    }
    template <class Rewrite>
    void skip(Time later_by, Rewrite rewrite) {
        std::vector<Event> events = pending();
        last_ += later_by;
        for (Event& event : events) {
            event = {event.time + later_by, rewrite(event.what)};
        }
        fill(events, buckets_.size());
    }

private:
    static constexpr std::size_t kFewestBuckets = 16;
    static constexpr std::size_t kSample = 64;
    static constexpr std::size_t kSampledTimes = 8;
    static constexpr std::size_t kEventsADay = 3;
    static constexpr std::size_t kCostly = 8;
    /// Events moved in order at the cost of one step.
    static constexpr std::size_t kMovedInAStep = 16;

    [[nodiscard]] std::uint64_t day_of(Time time) const {
        return static_cast<std::uint64_t>(time.ps) >> shift_;
    }
    std::vector<Event>& bucket_of(Time time) {
        return buckets_[day_of(time) & (buckets_.size() - 1)];
    }

    void push_today(const Event& event) {
        const auto behind = std::upper_bound(
            today_.begin() + static_cast<std::ptrdiff_t>(next_), today_.end(), event.time,
            [](Time time, const Event& other) { return time < other.time; });
        steps_ += static_cast<std::size_t>(today_.end() - behind) / kMovedInAStep;
        today_.insert(behind, event);
        if (next_ > kSample && 2 * next_ > today_.size()) {
            today_.erase(today_.begin(), today_.begin() + static_cast<std::ptrdiff_t>(next_));
            next_ = 0;
        }
        rebuild_if_costly();
    }

    /// Opens the next day that has events, unless today still has events.
    void open_a_day() {
        assert(size_ > 0 && "the queue is empty");
        if (next_ < today_.size()) {
            return;
        }
        if (size_ < buckets_.size() / 2 && buckets_.size() > kFewestBuckets) {
            fill(pending(), buckets_.size() / 2);
        } else {
            rebuild_if_costly();
        }
        for (std::size_t i = 0; next_ == today_.size() && i < buckets_.size(); ++i) {
            ++day_;
            open_today();
        }
        if (next_ == today_.size()) {
            day_ = day_of(earliest());
            open_today();
        }
    }

    /// Moves the day's events from their bucket to today_, which is used up.
    void open_today() {
        ++steps_;
        std::vector<Event>& bucket = buckets_[day_ & (buckets_.size() - 1)];
        if (bucket.empty()) {
            return;
        }
        const auto of_another_day = [this](const Event& e) { return day_of(e.time) != day_; };
        today_.clear();
        next_ = 0;
        if (std::ranges::none_of(bucket, of_another_day)) {
            today_.swap(bucket);
        } else {
            steps_ += bucket.size();
            std::size_t kept = 0;
            for (const Event& event : bucket) {
                if (of_another_day(event)) {
                    bucket[kept++] = event;
                } else {
                    today_.push_back(event);
                }
            }
            bucket.resize(kept);
        }
        sort_today();
    }

    void sort_today() {
        if (!std::ranges::is_sorted(today_, {}, &Event::time)) {
            steps_ += today_.size() / kEventsADay;
            std::ranges::stable_sort(today_, {}, &Event::time);
        }
    }

    [[nodiscard]] Time earliest() {
        Time first = Time::max();
        for (const std::vector<Event>& bucket : buckets_) {
            for (const Event& event : bucket) {
                first = std::min(first, event.time);
            }
        }
        steps_ += size_;
        return first;
    }

    void rebuild_if_costly() {
        if (pushes_ > size_ && pushes_ > kSample) {
            if (steps_ > kCostly * pushes_) {
                fill(pending(), buckets_.size());
            }
            pushes_ = 0;
            steps_ = 0;
        }
    }

    /// Replaces the content by `events`, in `count` buckets, with a width of day that suits them.
    void fill(const std::vector<Event>& events, std::size_t count) {
        measure(events);
        if (count != buckets_.size()) {
            buckets_ = std::vector<std::vector<Event>>(count);
        }
        for (std::vector<Event>& bucket : buckets_) {
            bucket.clear();
        }
        today_.clear();
        next_ = 0;
        day_ = day_of(last_);
        for (const Event& event : events) {
            (day_of(event.time) > day_ ? bucket_of(event.time) : today_).push_back(event);
        }
        sort_today();
        pushes_ = 0;
        steps_ = 0;
    }

    /// Sets the width of a day. Leaves it unchanged if all events have one time.
    void measure(const std::vector<Event>& events) {
        std::vector<std::int64_t> times;
        times.reserve(events.size());
        for (const Event& event : events) {
            times.push_back(event.time.ps);
        }
        std::vector<std::int64_t> gaps;
        std::size_t sampled = std::min(kSample, times.size());
        while (true) {
            const auto end = times.begin() + static_cast<std::ptrdiff_t>(sampled);
            if (end != times.end()) {
                std::nth_element(times.begin(), end, times.end());
            }
            std::sort(times.begin(), end);
            gaps.clear();
            for (std::size_t i = 1; i < sampled; ++i) {
                if (times[i] != times[i - 1]) {
                    gaps.push_back(times[i] - times[i - 1]);
                }
            }
            if (gaps.size() + 1 >= kSampledTimes || sampled == times.size()) {
                break;
            }
            sampled = std::min(4 * sampled, times.size());
        }
        if (gaps.empty()) {
            return;
        }
        const auto mean = [&] {
            double sum = 0;
            for (const std::int64_t gap : gaps) {
                sum += static_cast<double>(gap);
            }
            return sum / static_cast<double>(gaps.size());
        };
        const double most = 2 * mean();
        const auto distinct = static_cast<double>(gaps.size());
        std::erase_if(gaps, [&](std::int64_t gap) { return static_cast<double>(gap) > most; });
        const double separation = mean() * distinct / static_cast<double>(sampled - 1);
        const auto width = static_cast<std::uint64_t>(std::min(kEventsADay * separation, 0x1p62));
        shift_ = width <= 1 ? 0 : static_cast<unsigned>(std::bit_width(width)) - 1;
    }

    unsigned shift_ = 0;  ///< a day is 2^shift_ ps wide
    std::uint64_t day_ = 0;
    /// All pending events of day_ and before, sorted.
    std::vector<Event> today_;
    /// Index in today_ of the next event.
    std::size_t next_ = 0;
    std::vector<std::vector<Event>> buckets_{kFewestBuckets};
    std::size_t size_ = 0;
    /// Pushes since the width was last judged.
    std::size_t pushes_ = 0;
    /// Steps since then: days walked, events moved and sorted.
    std::size_t steps_ = 0;
    Time last_;
};

}  // namespace podsim::bench
