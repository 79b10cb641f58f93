// Benchmarks whole training steps, folded and unfolded, with and without reuse of repeated layers.
//
// The time is that of simulate_step; `explained` steps include all explanations of `podsim run`.
// Counters: the slice's chips and the simulated ones, layers, events of the step, and the events
// that were played and not skipped as repeats.
#include <benchmark/benchmark.h>
#include <string>
#include <vector>

#include "bench/requests.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/step_memory.h"

namespace podsim::bench {
namespace {

using scenarios::Fold;
using scenarios::Scenario;

void load(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(quick_start());
    }
}
BENCHMARK(load)->Unit(benchmark::kMillisecond);

void measure(benchmark::State& state, const Scenario& scenario, Fold fold,
             scenarios::StepOptions options = {}) {
    scenarios::StepResult result;
    for (auto _ : state) {
        result = scenarios::simulate_step(scenario, fold, options);
    }
    state.counters["chips"] = result.chips;
    state.counters["simulated_chips"] = result.simulated_chips;
    state.counters["layers"] = static_cast<double>(scenario.step().model.layers);
    state.counters["events"] = static_cast<double>(result.events);
    state.counters["played"] = static_cast<double>(result.played_events);
}

void step(benchmark::State& state, const char* file, bool explain) {
    measure(state, scenarios::load_scenario(std::string(PODSIM_SOURCE_DIR) + "/scenarios/" + file),
            Fold::automatic, {.explain = explain});
}
constexpr const char* k70b = "quickstart/llama3-70b-v5p-pod.yaml";
constexpr const char* k405b = "examples/llama3-405b-v5p-pod.yaml";
BENCHMARK_CAPTURE(step, llama3_70b_folded, k70b, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, llama3_405b_folded, k405b, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, llama3_70b_explained, k70b, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(step, llama3_405b_explained, k405b, true)->Unit(benchmark::kMillisecond);

/// Times step/llama3_70b_folded with kernels and messages that do not share the HBM.
void step_with_private_hbm(benchmark::State& state) {
    measure(state, quick_start({"hardware.hbm=private"}), Fold::automatic, {.explain = false});
}
BENCHMARK(step_with_private_hbm)
    ->Name("step/llama3_70b_folded_private_hbm")
    ->Unit(benchmark::kMillisecond);

/// Times 36 settings of the quick start one after the other, like one thread of a sweep. They share
/// cached results, or do not.
void settings(benchmark::State& state, bool shared) {
    std::vector<Scenario> all;
    for (const char* const remat : {"none", "block", "full"}) {
        for (const char* const ahead : {"0", "1", "2"}) {
            for (const char* const tokens : {"4Mi", "8Mi"}) {
                for (const char* const latency : {"additive", "floor"}) {
                    all.push_back(quick_start({std::string("training.remat=") + remat,
                                               std::string("overlap.prefetch_layers=") + ahead,
                                               std::string("batch.tokens=") + tokens,
                                               std::string("hardware.latency=") + latency}));
                }
            }
        }
    }
    for (auto _ : state) {
        scenarios::StepMemory memory;
        for (const Scenario& setting : all) {
            benchmark::DoNotOptimize(
                scenarios::simulate_step(setting, Fold::automatic,
                                         {.explain = false, .memory = shared ? &memory : nullptr}));
        }
    }
    state.counters["settings"] = static_cast<double>(all.size());
}
BENCHMARK_CAPTURE(settings, shared, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(settings, alone, false)->Unit(benchmark::kMillisecond);

/// Times the quick start's model on a smaller slice, without the extra runs that explain a result.
void unfolded_step(benchmark::State& state, const char* slice, bool reuse) {
    measure(state, quick_start({std::string("hardware.slice=") + slice, "batch.tokens=2Mi"}),
            Fold::off, {.reuse = reuse, .explain = false});
}
BENCHMARK_CAPTURE(unfolded_step, 4x4x4_reuse, "4x4x4", true)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2);
BENCHMARK_CAPTURE(unfolded_step, 4x4x4_no_reuse, "4x4x4", false)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(unfolded_step, 8x8x8_reuse, "8x8x8", true)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

/// Times the quick start itself on every chip and link.
void unfolded_pod(benchmark::State& state) {
    measure(state, quick_start(), Fold::off, {.reuse = true, .explain = false});
}
BENCHMARK(unfolded_pod)
    ->Name("unfolded_step/16x20x28_reuse")
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

void layers(benchmark::State& state) {
    measure(state, quick_start({"model.layers=" + std::to_string(state.range(0))}), Fold::automatic,
            {.reuse = state.range(1) != 0, .explain = false});
}
BENCHMARK(layers)
    ->ArgNames({"layers", "reuse"})
    ->ArgsProduct({{10, 20, 40, 80, 160, 320, 640}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim::bench
