// The hold model for any queue: with N events pending, pop the earliest and push one that lies an
// increment after it; N stays.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "sim/queue/event.h"

namespace podsim::bench {

constexpr std::size_t kHolds = 1 << 15;  ///< minimum per round
constexpr std::int64_t kMeanPs = 1'000'000;

/// A generator, splitmix64, with the same numbers on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15ULL;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }
    /// Returns a number in (0, 1].
    double unit() { return (static_cast<double>(next() >> 11U) + 1.0) * 0x1p-53; }

private:
    std::uint64_t state_;
};

/// Distributions of increments. exponential: mean kMeanPs. bimodal: nine in ten are a tenth of it,
/// the others ten times. constant: always kMeanPs, as if all links carried equal messages, so that
/// whole groups of events share an instant. few: one of eight delays.
enum Increments : int { exponential, bimodal, constant, few };
inline constexpr const char* kIncrementNames[] = {"exponential", "bimodal", "constant", "few"};

inline std::int64_t increment(Increments kind, Random& random) {
    switch (kind) {
        case exponential:
            return static_cast<std::int64_t>(-std::log(random.unit()) * kMeanPs);
        case bimodal:
            return static_cast<std::int64_t>(random.unit() * kMeanPs *
                                             (random.next() % 10 == 0 ? 10 : 0.1));
        case constant:
            return kMeanPs;
        case few:
            return static_cast<std::int64_t>(1 + random.next() % 8) * (kMeanPs / 8);
    }
    return 0;
}

/// Returns the initial time of a pending event: spread over one mean, or at 16 instants within it.
inline std::int64_t first_time(Increments kind, Random& random) {
    return kind == constant || kind == few
               ? static_cast<std::int64_t>(random.next() % 16) * (kMeanPs / 16)
               : static_cast<std::int64_t>(random.next() % kMeanPs);
}

template <class Queue>
void fill(Queue& queue, std::size_t pending, Increments kind) {
    Random random(7);
    for (std::size_t i = 0; i < pending; ++i) {
        queue.push({sim::Time{first_time(kind, random)}, i});
    }
}

/// Returns the time of this thread alone, so that other programs on the machine matter as little as
/// possible.
inline double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Queue>
double seconds_of_holds(Queue& queue, const std::vector<std::int64_t>& increments) {
    const double begun = processor_seconds();
    for (const std::int64_t step : increments) {
        const sim::Event event = queue.pop();
        queue.push({event.time + sim::Time{step}, event.what});
    }
    return processor_seconds() - begun;
}

}  // namespace podsim::bench
