// Hops a second of the kernel alone: an AllGather of 1 GB on every chip and link of a v5p slice, with the
// default queue, and the same simulation over std::priority_queue.
//
// The schedule is built once; sim::execute, whose reading of the schedule is part of it, is timed by the
// processor's time, so that other programs on the machine count as little as possible. On the largest slice the two queues take turns; `times_std` says how many times as many hops a second
// the default queue serves (the best of each).
#include <algorithm>
#include <benchmark/benchmark.h>
#include <ctime>

#include "scenarios/load.h"
#include "scenarios/lowering.h"
#include "sim/executor.h"

namespace podsim::bench {
namespace {

sim::Workload all_gather(const char* slice) {
    const scenarios::Hardware hardware =
        scenarios::hardware_from_options("v5p", slice, false, "additive");
    const collectives::Members members =
        scenarios::parse_members("xyz", hardware.slice, hardware.slices);
    collectives::ShiftTable shifts =
        scenarios::lay_out(hardware, scenarios::Fold::off, {members}).shifts();
    sim::Workload workload;
    workload.schedules.push_back(
        collectives::build_schedule(collectives::Operation::all_gather, hardware.slice,
                                    members.group, {}, sim::Bytes(1e9),
                                    {.message_cap = hardware.message_cap}, shifts)
            .schedule);
    workload.machine = scenarios::build_machine(hardware, shifts);
    workload.operations.push_back({});
    sim::Task task;
    task.operation = 0;
    workload.graphs.push_back({{task}});
    workload.graph_of_place.assign(workload.machine.places, 0);
    return workload;
}

double hops_per_s(const sim::Workload& workload, sim::QueueKind queue) {
    const std::clock_t begun = std::clock();
    const sim::ExecutionResult result = sim::execute(workload, nullptr, false, queue);
    const std::clock_t ended = std::clock();
    return static_cast<double>(result.events) * CLOCKS_PER_SEC / static_cast<double>(ended - begun);
}

void hops(benchmark::State& state, const char* slice) {
    const sim::Workload workload = all_gather(slice);
    double best = 0;
    for (auto _ : state) {
        best = std::max(best, hops_per_s(workload, sim::QueueKind::waves));
    }
    state.counters["hops_per_s"] = best;
}

void hops_beside_std(benchmark::State& state) {
    const sim::Workload workload = all_gather("16x20x28");
    double best = 0;
    double best_std = 0;
    for (auto _ : state) {
        best = std::max(best, hops_per_s(workload, sim::QueueKind::waves));
        best_std = std::max(best_std, hops_per_s(workload, sim::QueueKind::binary_heap));
    }
    state.counters["hops_per_s"] = best;
    state.counters["std_hops_per_s"] = best_std;
    state.counters["times_std"] = best / best_std;
}

BENCHMARK_CAPTURE(hops, 8x8x8, "8x8x8")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hops, 16x16x16, "16x16x16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hops, 16x20x28, "16x20x28")->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK(hops_beside_std)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace podsim::bench
