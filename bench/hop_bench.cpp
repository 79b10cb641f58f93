// Benchmarks hops per second of the kernel alone: an AllGather of 1 GB on every chip and link of a
// v5p slice, the same simulation over every queue, alternating.
//
// The schedule is built once. sim::execute, which includes reading the schedule, is timed by
// processor time, so that other programs on the machine matter as little as possible. The best run
// of each queue counts. Counters: hops, hops per second of each queue, and the rate of the default
// over that of std::priority_queue (times_std). The reported time is that of the default.
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <string>
#include <utility>

#include "bench/queue_bench.h"
#include "bench/queues/compared_queues.h"
#include "bench/requests.h"
#include "scenarios/src/simulate/lower_collective.h"
#include "sim/executor/executor.h"
#include "sim/queue/event_queue.h"
#include "sim/state/event_per_hop.h"
#include "sim/state/waves.h"

namespace podsim::bench {
namespace {

using Play = sim::ExecutionResult (*)(const sim::Workload&, sim::Observer*, bool);
constexpr std::array<std::pair<const char*, Play>, 6> kQueues{{
    {"waves", sim::play<sim::Waves<sim::RadixQueue>>},
    {"radix", sim::play<sim::EventPerHop<sim::RadixQueue>>},
    {"lanes", sim::play<sim::EventPerHop<LaneQueue>>},
    {"calendar", sim::play<sim::EventPerHop<CalendarQueue>>},
    {"quaternary", sim::play<sim::EventPerHop<QuaternaryQueue>>},
    {"std", sim::play<sim::EventPerHop<BinaryQueue>>},
}};

void hops(benchmark::State& state, const char* slice) {
    const scenarios::CollectiveRequest request =
        whole_slice(collectives::Operation::all_gather, slice, 1e9);
    const scenarios::AchievedHardware hardware(request.hardware);
    const scenarios::StageCollective gather = request.collective();
    const sim::Workload workload =
        scenarios::lower_lone(hardware, gather,
                              scenarios::pick_algorithm(hardware, gather).algorithm,
                              scenarios::layout_of(hardware, gather, scenarios::Fold::off))
            .workload;
    std::array<double, kQueues.size()> best{};
    double count = 0;
    for (auto _ : state) {
        for (std::size_t i = 0; i < kQueues.size(); ++i) {
            const double begun = processor_seconds();
            const sim::ExecutionResult result = kQueues[i].second(workload, nullptr, false);
            const double seconds = processor_seconds() - begun;
            if (i > 0 && count != static_cast<double>(result.events - workload.machine.places)) {
                state.SkipWithError("the queues disagree");
            }
            count = static_cast<double>(result.events - workload.machine.places);
            best[i] = std::max(best[i], count / seconds);
            if (i == 0) {
                state.SetIterationTime(seconds);
            }
        }
    }
    state.counters["chips"] = static_cast<double>(workload.machine.places);
    state.counters["hops"] = count;
    for (std::size_t i = 0; i < kQueues.size(); ++i) {
        state.counters[std::string(kQueues[i].first) + "_hops_per_s"] = best[i];
    }
    state.counters["times_std"] = best.front() / best.back();
}

BENCHMARK_CAPTURE(hops, 8x8x8, "8x8x8")
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(10);
BENCHMARK_CAPTURE(hops, 16x16x16, "16x16x16")
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(4);
BENCHMARK_CAPTURE(hops, 16x20x28, kPod)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(3);

}  // namespace
}  // namespace podsim::bench
