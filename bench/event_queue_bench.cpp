// Benchmarks every event queue under the hold model (queue_bench.h), beside the standard
// containers, in one run.
//
// All hold the same 16 bytes, order them by (time, push order) and get the same increments. They
// alternate in rounds, so that a disturbance of one affects the others. A round replaces all
// pending events at least once, so that it includes work that a queue defers. The best round of
// each queue counts, without the first. Counters: ns for a pop and a push, and the times of
// std::priority_queue and boost::heap::d_ary_heap<4> over that of the default queue. The reported
// time is that of the default queue.
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <boost/heap/d_ary_heap.hpp>
#include <boost/heap/pairing_heap.hpp>

#include "bench/queue_bench.h"
#include "bench/queues/compared_queues.h"
#include "sim/queue/event_queue.h"

namespace podsim::bench {
namespace {

using sim::Event;

struct Later {
    bool operator()(const NumberedEvent& a, const NumberedEvent& b) const { return b < a; }
};

/// A queue over a heap of Boost.
template <class Heap>
class BoostQueue {
public:
    void push(const Event& event) { heap_.push({event, next_number_++}); }
    Event pop() {
        const Event first = heap_.top().event;
        heap_.pop();
        return first;
    }

private:
    Heap heap_;
    std::uint64_t next_number_ = 0;
};
using DaryQueue = BoostQueue<
    boost::heap::d_ary_heap<NumberedEvent, boost::heap::arity<4>, boost::heap::compare<Later>>>;
using PairingQueue =
    BoostQueue<boost::heap::pairing_heap<NumberedEvent, boost::heap::compare<Later>>>;

/// A queue over std::multimap: equal keys stay in the order of insertion.
class MultimapQueue {
public:
    void push(const Event& event) { events_.emplace(event.time.ps, event); }
    Event pop() {
        const Event first = events_.begin()->second;
        events_.erase(events_.begin());
        return first;
    }

private:
    std::multimap<std::int64_t, Event> events_;
};

template <class Queue>
struct Contender {
    std::unique_ptr<Queue> queue = std::make_unique<Queue>();
    double best = std::numeric_limits<double>::infinity();
};

void hold(benchmark::State& state) {
    const auto pending = static_cast<std::size_t>(state.range(0));
    const auto kind = static_cast<Increments>(state.range(1));
    const std::size_t holds = std::max(kHolds, pending);
    std::vector<std::int64_t> steps(holds);
    Random random(20240601);
    for (std::int64_t& step : steps) {
        step = increment(kind, random);
    }
    std::tuple<Contender<sim::RadixQueue>, Contender<LaneQueue>, Contender<CalendarQueue>,
               Contender<QuaternaryQueue>, Contender<BinaryQueue>, Contender<DaryQueue>,
               Contender<PairingQueue>, Contender<MultimapQueue>>
        contenders;
    const auto each = [&](const auto& act) {
        std::apply([&](auto&... contender) { (act(contender), ...); }, contenders);
    };
    each([&](auto& contender) {
        fill(*contender.queue, pending, kind);
        seconds_of_holds(*contender.queue, steps);
    });
    for (auto _ : state) {
        double seconds = 0;
        each([&](auto& contender) {
            const double s = seconds_of_holds(*contender.queue, steps);
            contender.best = std::min(contender.best, s);
            seconds = seconds == 0 ? s : seconds;
        });
        state.SetIterationTime(seconds);
    }
    std::vector<double> best;
    std::vector<Event> next;
    each([&](auto& contender) {
        best.push_back(contender.best / static_cast<double>(holds) * 1e9);
        next.push_back(contender.queue->pop());
    });
    if (std::ranges::count(next, next.front()) != std::ssize(next)) {
        state.SkipWithError("the queues disagree");
    }
    const std::array names{"radix_ns", "lanes_ns", "calendar_ns", "quaternary_ns",
                           "std_ns",   "d_ary_ns", "pairing_ns",  "multimap_ns"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        state.counters[names[i]] = best[i];
    }
    state.counters["std_over_default"] = best[4] / best[0];
    state.counters["d_ary_over_default"] = best[5] / best[0];
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                            static_cast<std::int64_t>(holds));
    state.SetLabel(kIncrementNames[kind]);
}

void by_size_and_increments(benchmark::internal::Benchmark* bench) {
    bench->ArgNames({"pending", "increments"})->UseManualTime();
}
BENCHMARK(hold)
    ->Apply(by_size_and_increments)
    ->ArgsProduct({{100, 1'000, 10'000, 100'000}, {exponential, bimodal, constant, few}})
    ->Iterations(10);
BENCHMARK(hold)
    ->Apply(by_size_and_increments)
    ->ArgsProduct({{1'000'000}, {exponential, bimodal, constant, few}})
    ->Iterations(2);

}  // namespace
}  // namespace podsim::bench
