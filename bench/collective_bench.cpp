// Benchmarks whole collectives over all axes of a v5p slice, folded and unfolded, and an AllGather
// as its array grows.
//
// The time is that of simulate_collective: choosing the algorithm, building the schedule, running
// it, and running it once more without latency for the report. Counters: the slice's chips and the
// simulated ones, events of the run, events per second of that time, and the physical bound over
// the simulated time.
#include <benchmark/benchmark.h>
#include <string>

#include "bench/requests.h"
#include "collectives/vocabulary/operation.h"

namespace podsim::bench {
namespace {

using collectives::Operation;
using scenarios::Fold;

void measure(benchmark::State& state, const scenarios::CollectiveRequest& request, Fold fold) {
    scenarios::CollectiveResult result;
    double events = 0;
    for (auto _ : state) {
        result = scenarios::simulate_collective(request, fold);
        events += static_cast<double>(result.events);
    }
    state.counters["chips"] = request.hardware.chips();
    state.counters["simulated_chips"] = result.simulated_chips;
    state.counters["events"] = static_cast<double>(result.events);
    state.counters["events_per_s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
    state.counters["bound_over_simulated"] =
        result.physical_bound.value() / result.simulated.seconds();
}

/// Registers collective/<operation>/<slice>/<folded or unfolded>. An unfolded AllToAll has a route
/// for each pair of chips and order of axes: 4096 chips take a minute, 8960 would take seven.
const bool collectives_registered = [] {
    for (const Operation operation :
         {Operation::all_gather, Operation::all_reduce, Operation::all_to_all}) {
        for (const char* slice : {"4x4x4", "8x8x8", "16x16x16", kPod}) {
            for (const Fold fold : {Fold::automatic, Fold::off}) {
                const bool unfolded = fold == Fold::off;
                const bool large = std::string(slice).size() > 5;
                const bool long_run = operation == Operation::all_to_all && large && unfolded;
                if (long_run && std::string(slice) == kPod) {
                    continue;
                }
                auto* const registered = benchmark::RegisterBenchmark(
                    ("collective/" + std::string(to_string(operation)) + "/" + slice + "/" +
                     (unfolded ? "unfolded" : "folded"))
                        .c_str(),
                    [=](benchmark::State& state) {
                        measure(state, whole_slice(operation, slice, 1e9), fold);
                    });
                registered->Unit(benchmark::kMillisecond);
                if (large && unfolded) {
                    registered->Iterations(long_run ? 1 : 2);
                }
            }
        }
    }
    return true;
}();

/// Times collective/all-gather/16x20x28/unfolded with messages that never wait for the HBM.
void with_private_hbm(benchmark::State& state) {
    scenarios::CollectiveRequest request = whole_slice(Operation::all_gather, kPod, 1e9);
    request.hardware.hbm = scenarios::HbmRule::separate;
    measure(state, request, Fold::off);
}
BENCHMARK(with_private_hbm)
    ->Name("collective/all-gather, private HBM/16x20x28/unfolded")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);

void message_size(benchmark::State& state) {
    measure(state,
            whole_slice(Operation::all_gather, kPod, static_cast<double>(state.range(0)) * 1e6),
            Fold::automatic);
}
BENCHMARK(message_size)
    ->ArgName("megabytes")
    ->RangeMultiplier(10)
    ->Range(1, 1'000'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim::bench
