// Hops a second of the kernel alone: an AllGather of 1 GB on every chip and link of a v5p slice, the same simulation
// over every queue, in turns.
//
// The schedule is built once; sim::execute, whose reading of the schedule is part of it, is timed by the processor's
// time, so that other programs on the machine count as little as possible. Of each queue the best run counts.
// Counters: hops, hops a second of each queue, and how many times as many the default serves as std::priority_queue
// (times_std). The reported time is that of the default.
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <string>
#include <utility>

#include "bench/queue_bench.h"
#include "bench/requests.h"
#include "scenarios/lower/lower_collective.h"
#include "sim/executor/executor.h"

namespace podsim::bench {
namespace {

constexpr std::array<std::pair<const char*, sim::QueueKind>, 6> kQueues{{
    {"waves", sim::QueueKind::waves},
    {"radix", sim::QueueKind::radix},
    {"lanes", sim::QueueKind::lanes},
    {"calendar", sim::QueueKind::calendar},
    {"quaternary", sim::QueueKind::quaternary_heap},
    {"std", sim::QueueKind::binary_heap},
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
            const sim::ExecutionResult result =
                sim::execute(workload, nullptr, false, kQueues[i].second);
            const double seconds = processor_seconds() - begun;
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
