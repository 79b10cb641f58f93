// Benchmarks the serving loop: 10,000 requests on step times that cost nothing to compute, directly
// and through their grid.
//
// The time is that of a whole run, including the drawing of requests and the percentiles. Counters:
// steps, decodes, buckets and seconds per step.
#include <benchmark/benchmark.h>

#include "scenarios/src/serve/serving_run.h"

namespace podsim::bench {
namespace {

using scenarios::BatchingKind;

/// Step times of 2 ms, plus 20 us per prompt token, plus the time of a cache of 100 kB per token at
/// 1 TB/s.
struct LinearStepTimes final : scenarios::StepTimes {
    sim::Time time_of(const scenarios::StepShape& shape) override {
        return {2000000000 + 20000000 * shape.prompt_tokens() + 100000 * shape.decode_cached};
    }
};

/// Returns a load a little below the server's capacity: prompts of about 500 tokens, answers of
/// about 250, 64 slots.
scenarios::ServingSpec spec_of(BatchingKind kind) {
    scenarios::ServingSpec spec;
    spec.load.rate = 30;
    spec.load.requests = 10000;
    spec.load.prompt = {.kind = scenarios::LengthKind::lognormal,
                        .least = 1,
                        .most = 4096,
                        .mean = 500,
                        .sigma = 0.8};
    spec.load.output = {.kind = scenarios::LengthKind::lognormal,
                        .least = 1,
                        .most = 2048,
                        .mean = 250,
                        .sigma = 0.8};
    spec.batching = {.kind = kind, .slots = 64};
    spec.cache.pages = 4096;
    return spec;
}

void serve(benchmark::State& state, BatchingKind kind, std::int64_t per_octave) {
    scenarios::ServingSpec spec = spec_of(kind);
    spec.per_octave = per_octave;
    scenarios::ServingRun run;
    for (auto _ : state) {
        LinearStepTimes times;
        run = scenarios::run_serving("bench", 1, spec, {.steps = &times});
    }
    const auto steps = static_cast<double>(run.result.generate[0].steps);
    state.counters["steps"] = steps;
    state.counters["decodes"] = static_cast<double>(run.result.decodes);
    state.counters["buckets"] = static_cast<double>(run.buckets);
    state.counters["s_per_step"] = benchmark::Counter(
        steps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(serve, continuous, BatchingKind::continuous, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, chunked, BatchingKind::chunked, 0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(serve, chunked_grid, BatchingKind::chunked, 4)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim::bench
