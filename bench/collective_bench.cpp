// Whole collectives, folded and unfolded: a 1 GB AllGather over all axes of a v5p slice.
//
// Time is that of simulate_collective: building the schedule and running it. Counters: events of
// one run, events a second of wall time, and the simulated time over the physical bound.
#include <benchmark/benchmark.h>

#include "scenarios/load.h"
#include "scenarios/simulate.h"

namespace podsim::bench {
namespace {

void all_gather(benchmark::State& state, const char* slice, scenarios::Fold fold) {
    scenarios::CollectiveRequest request;
    request.hardware = scenarios::hardware_from_options("v5p", slice, false, "additive");
    request.operation = collectives::Operation::all_gather;
    request.members =
        scenarios::parse_members("xyz", request.hardware.slice, request.hardware.slices);
    request.bytes = sim::Bytes(1e9);
    scenarios::CollectiveResult result;
    double events = 0;
    for (auto _ : state) {
        result = scenarios::simulate_collective(request, fold);
        events += static_cast<double>(result.events);
    }
    state.counters["events"] = static_cast<double>(result.events);
    state.counters["events_per_s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
    state.counters["chips"] = result.simulated_chips;
    state.counters["bound_over_simulated"] =
        result.physical_bound.value() / result.simulated.seconds();
}

void folded(benchmark::State& state, const char* slice) {
    all_gather(state, slice, scenarios::Fold::automatic);
}
void unfolded(benchmark::State& state, const char* slice) {
    all_gather(state, slice, scenarios::Fold::off);
}

BENCHMARK_CAPTURE(folded, 8x8x8, "8x8x8")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(folded, 16x16x16, "16x16x16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(folded, 16x20x28, "16x20x28")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(unfolded, 8x8x8, "8x8x8")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(unfolded, 16x16x16, "16x16x16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(unfolded, 16x20x28, "16x20x28")->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace podsim::bench
