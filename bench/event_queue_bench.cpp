// The event queue under the hold model, beside std::priority_queue in the same run.
//
// Hold: with N events pending, pop the earliest and push one that lies an increment after it; N
// stays. Both queues hold the same 24-byte events, order them by the same (time, push order) and
// get the same increments. They take turns in rounds of kHolds, so that what disturbs one
// disturbs the other. Counters: nanoseconds a hold for each, and their ratio (above 1: ours is
// faster). The reported time is that of our queue alone.
#include <benchmark/benchmark.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/event_queue.h"

namespace podsim::bench {
namespace {

using sim::Event;
using sim::EventKind;
using sim::Time;

constexpr std::size_t kHolds = 1 << 15;
constexpr std::int64_t kMeanPs = 1'000'000;

/// splitmix64: the same numbers on every machine.
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
    /// In (0, 1].
    double unit() { return (static_cast<double>(next() >> 11U) + 1.0) * 0x1p-53; }

private:
    std::uint64_t state_;
};

enum Increments : int { exponential, ties };

/// exponential: mean kMeanPs. ties: kMeanPs always, as when all links carry equal messages, so that
/// whole groups of events share an instant.
std::vector<std::int64_t> increments(Increments kind) {
    Random random(20240601);
    std::vector<std::int64_t> list(kHolds, kMeanPs);
    if (kind == exponential) {
        for (std::int64_t& increment : list) {
            increment = static_cast<std::int64_t>(-std::log(random.unit()) * kMeanPs);
        }
    }
    return list;
}

/// Where the pending events stand at first: spread over one mean, or at 16 instants within it.
Time first_time(Increments kind, Random& random) {
    return {kind == exponential ? static_cast<std::int64_t>(random.next() % kMeanPs)
                                : static_cast<std::int64_t>(random.next() % 16) * (kMeanPs / 16)};
}

class StandardQueue {
public:
    void push(Event event) {
        event.order |= next_order_;
        next_order_ += 8;
        queue_.push(event);
    }
    Event pop() {
        const Event first = queue_.top();
        queue_.pop();
        return first;
    }

private:
    struct Later {
        bool operator()(const Event& a, const Event& b) const {
            return a.time != b.time ? b.time < a.time : b.order < a.order;
        }
    };
    std::priority_queue<Event, std::vector<Event>, Later> queue_;
    std::uint64_t next_order_ = 0;
};

template <class Queue>
double seconds_of_holds(Queue& queue, const std::vector<std::int64_t>& increments) {
    const auto begun = std::chrono::steady_clock::now();
    for (const std::int64_t increment : increments) {
        Event event = queue.pop();
        benchmark::DoNotOptimize(event);
        queue.push(Event(event.time + Time{increment}, EventKind::link_free, event.subject));
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void hold(benchmark::State& state) {
    const auto pending = static_cast<std::uint32_t>(state.range(0));
    const auto kind = static_cast<Increments>(state.range(1));
    const std::vector<std::int64_t> steps = increments(kind);
    sim::EventQueue ours;
    StandardQueue standard;
    Random random(7);
    for (std::uint32_t i = 0; i < pending; ++i) {
        const Event event(first_time(kind, random), EventKind::link_free, i);
        ours.push(event);
        standard.push(event);
    }
    double ours_s = 0;
    double standard_s = 0;
    for (auto _ : state) {
        const double s = seconds_of_holds(ours, steps);
        state.SetIterationTime(s);
        ours_s += s;
        standard_s += seconds_of_holds(standard, steps);
    }
    if (ours.pop().time != standard.pop().time) {
        state.SkipWithError("the two queues disagree");
    }
    const double holds = static_cast<double>(state.iterations()) * kHolds;
    state.counters["podsim_ns"] = ours_s / holds * 1e9;
    state.counters["std_ns"] = standard_s / holds * 1e9;
    state.counters["std_over_podsim"] = standard_s / ours_s;
    state.SetItemsProcessed(static_cast<std::int64_t>(holds));
    state.SetLabel(kind == exponential ? "exponential" : "ties");
}

BENCHMARK(hold)
    ->ArgNames({"pending", "ties"})
    ->ArgsProduct({{1'000, 100'000}, {exponential, ties}})
    ->UseManualTime();

}  // namespace
}  // namespace podsim::bench
