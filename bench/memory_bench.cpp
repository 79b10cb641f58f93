// Benchmarks the memory of a run: the peak rise of the process's resident memory.
//
// The figures come from Linux: unused memory is given back (malloc_trim), and the process's peak is
// reset to its present size (5 to /proc/self/clear_refs). After the run, VmHWM less that size is
// the rise. It contains the schedule, the machine, all pending events and the result. Counters: the
// rise, and the rise per simulated chip and per event.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <fstream>
#include <malloc.h>
#include <string>

#include "bench/requests.h"

namespace podsim::bench {
namespace {

using scenarios::Fold;

/// Returns the value of a line of /proc/self/status in bytes; 0 if there is none.
double status_bytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":")) {
            return std::stod(line.substr(name.size() + 1)) * 1024;
        }
    }
    return 0;
}

template <class Run>
void measure(benchmark::State& state, const Run& run) {
    double rise = 0;
    for (auto _ : state) {
        malloc_trim(0);
        std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
        const double before = status_bytes("VmRSS");
        if (status_bytes("VmHWM") > before + 4e6) {
            state.SkipWithError("the peak of the resident memory cannot be set back here");
            return;
        }
        const auto result = run();
        rise = std::max(rise, status_bytes("VmHWM") - before);
        state.counters["simulated_chips"] = result.simulated_chips;
        state.counters["events"] = static_cast<double>(result.events);
    }
    state.counters["peak_rise_bytes"] = rise;
    state.counters["bytes_per_chip"] = rise / state.counters["simulated_chips"];
    state.counters["bytes_per_event"] = rise / state.counters["events"];
}

using collectives::Operation;

void memory_collective(benchmark::State& state, const char* slice, double bytes,
                       Operation operation = Operation::all_gather) {
    measure(state, [&] {
        return scenarios::simulate_collective(whole_slice(operation, slice, bytes), Fold::off);
    });
}
BENCHMARK_CAPTURE(memory_collective, 8x8x8_1_GB, "8x8x8", 1e9)->Iterations(1);
BENCHMARK_CAPTURE(memory_collective, 16x16x16_1_GB, "16x16x16", 1e9)->Iterations(1);
BENCHMARK_CAPTURE(memory_collective, 16x20x28_1_GB, kPod, 1e9)->Iterations(1);
BENCHMARK_CAPTURE(memory_collective, 16x20x28_4_GB, kPod, 4e9)->Iterations(1);
BENCHMARK_CAPTURE(memory_collective, all_to_all_8x8x8_1_GB, "8x8x8", 1e9, Operation::all_to_all)
    ->Iterations(1);

void memory_step(benchmark::State& state, const char* slice, const char* layers) {
    measure(state, [&] {
        return scenarios::simulate_step(
            quick_start({std::string("hardware.slice=") + slice, "batch.tokens=2Mi",
                         std::string("model.layers=") + layers}),
            Fold::off, {.reuse = true, .explain = false});
    });
}
BENCHMARK_CAPTURE(memory_step, 4x4x4_80_layers, "4x4x4", "80")->Iterations(1);
BENCHMARK_CAPTURE(memory_step, 8x8x8_20_layers, "8x8x8", "20")->Iterations(1);
BENCHMARK_CAPTURE(memory_step, 8x8x8_80_layers, "8x8x8", "80")->Iterations(1);

}  // namespace
}  // namespace podsim::bench
