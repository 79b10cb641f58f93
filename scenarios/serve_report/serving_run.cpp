#include "scenarios/serve_report/serving_run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "scenarios/serve/step_cost.h"

namespace podsim::scenarios {
namespace {

/// A source behind its grid, or behind a memory of what it was asked for.
class Gridded {
public:
    Gridded(StepTimes* exact, std::int64_t per_octave, const GridLimits& limits) {
        if (exact == nullptr) {
            return;
        }
        if (per_octave > 0) {
            grid_ = std::make_unique<InterpolatedStepTimes>(*exact, per_octave, limits);
        } else {
            memory_ = std::make_unique<MemoisedStepTimes>(*exact);
        }
    }

    [[nodiscard]] StepTimes* times() const {
        return grid_ != nullptr ? static_cast<StepTimes*>(grid_.get()) : memory_.get();
    }
    [[nodiscard]] std::size_t buckets() const {
        return grid_ != nullptr ? grid_->buckets() : memory_ != nullptr ? memory_->asked() : 0;
    }
    [[nodiscard]] std::optional<GridError> error() const {
        return grid_ != nullptr ? std::optional(grid_->measure_error()) : std::nullopt;
    }

private:
    std::unique_ptr<InterpolatedStepTimes> grid_;
    std::unique_ptr<MemoisedStepTimes> memory_;
};

GridLimits limits_of(const ServingSpec& spec) {
    GridLimits limits{.sequences = padded(spec.batching.slots, spec.batching),
                      .context = std::max<std::int64_t>(1, spec.cache.length)};
    for (const Request& request : draw_requests(spec.load)) {
        limits.context = std::max(
            limits.context, most_cached(request.prompt, request.output, spec.speculation.tokens));
    }
    return limits;
}

}  // namespace

ServingRun run_serving(std::string name, std::int64_t chips, const ServingSpec& spec,
                       const ServingTimes& exact, bool measure, Watch* watch) {
    const GridLimits limits = limits_of(spec);
    const Gridded steps(exact.steps, spec.per_octave, limits);
    const Gridded prefill(exact.prefill, spec.per_octave, limits);
    const Gridded draft(exact.draft, spec.per_octave, limits);
    const ServingTimes times{.steps = steps.times(),
                             .prefill = prefill.times(),
                             .draft = draft.times(),
                             .transfer = exact.transfer};
    ServingRun run;
    run.name = std::move(name);
    run.chips = chips;
    run.spec = spec;
    run.result = serve(spec, times, watch);
    run.summary = summarise(spec, run.result);
    run.balance = balance_of(spec, times);
    run.buckets = steps.buckets() + prefill.buckets() + draft.buckets();
    if (measure) {
        run.step_grid = steps.error();
        run.prefill_grid = prefill.error();
    }
    return run;
}

std::optional<double> usd_per_million_output_tokens(const ServingRun& run) {
    constexpr double kMillion = 1e6;
    constexpr double kSecondsOfHour = 3600;
    if (!run.usd_per_chip_hour || !(run.summary.output_per_s > 0)) {
        return std::nullopt;
    }
    return *run.usd_per_chip_hour * static_cast<double>(run.chips) / kSecondsOfHour * kMillion /
           run.summary.output_per_s;
}

}  // namespace podsim::scenarios
