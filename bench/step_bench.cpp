// The quick start: loading the scenario, and simulating its step, folded and unfolded.
#include <benchmark/benchmark.h>
#include <string>

#include "scenarios/load.h"
#include "scenarios/simulate.h"

namespace podsim::bench {
namespace {

std::string quickstart() {
    return std::string(PODSIM_SOURCE_DIR) + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml";
}

void load(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(scenarios::load_scenario(quickstart()));
    }
}

void step(benchmark::State& state, scenarios::Fold fold) {
    const scenarios::Scenario scenario = scenarios::load_scenario(quickstart());
    scenarios::StepResult result;
    double events = 0;
    for (auto _ : state) {
        result = scenarios::simulate_step(scenario, fold);
        events += static_cast<double>(result.events);
    }
    state.counters["events"] = static_cast<double>(result.events);
    state.counters["events_per_s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
    state.counters["chips"] = result.simulated_chips;
}

BENCHMARK(load)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, folded, scenarios::Fold::automatic)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, unfolded, scenarios::Fold::off)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace podsim::bench
