#include "scenarios/src/serve/serving_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "scenarios/src/scenario/check_cache.h"
#include "scenarios/src/serve/step_cost.h"
#include "sim/base/random.h"

namespace podsim::scenarios {
namespace {

double mean_of(std::int64_t sum, std::int64_t count) {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

/// Equal prompts that stand for unequal ones.
struct Prompts {
    std::int64_t count = 0;
    double tokens = 0;  ///< new tokens of each
    double cached = 0;  ///< tokens before them
    std::int64_t ends = 0;
};

Prompts equal_prompts(const std::vector<PromptPart>& parts) {
    Prompts equal;
    double tokens = 0;
    double pairs = 0;
    for (const PromptPart& part : parts) {
        const auto fresh = static_cast<double>(part.tokens);
        tokens += fresh;
        pairs += fresh * (static_cast<double>(part.cached) + fresh / 2);
        equal.ends += part.ends ? 1 : 0;
    }
    equal.count = static_cast<std::int64_t>(parts.size());
    if (tokens > 0) {
        equal.tokens = tokens / static_cast<double>(equal.count);
        equal.cached = std::max(0.0, pairs / tokens - equal.tokens / 2);
    }
    return equal;
}

/// Returns the mean of tokens that a sequence makes in a decode step: 1 + p + ... + p^k.
double tokens_a_step(const SpeculationSpec& speculation) {
    double tokens = 1;
    double accepted = 1;
    for (std::int64_t i = 0; i < speculation.tokens; ++i) {
        accepted *= speculation.acceptance;
        tokens += accepted;
    }
    return tokens;
}

double mean_prefill(const ServingSpec& spec, const StepCost& cost,
                    const std::vector<Request>& requests) {
    const std::size_t apart = std::max<std::size_t>(1, requests.size() / kPrompts);
    sim::Time sum;
    double count = 0;
    for (std::size_t i = 0; i < requests.size(); i += apart) {
        const std::int64_t prefix = requests[i].prefix / spec.cache.page * spec.cache.page;
        const StepShape step{.prompts = {{requests[i].prompt - prefix, prefix, true}}};
        sum += cost.of(step, true);
        ++count;
    }
    return sum.seconds() / count;
}

/// Returns the mean of a request's own pages while it decodes.
double decoding_pages(const ServingSpec& spec, const Request& request) {
    const std::int64_t page = spec.cache.page;
    const double held = spec.cache.reserve
                            ? static_cast<double>(most_cached(request.prompt, request.output,
                                                              spec.speculation.tokens))
                            : static_cast<double>(request.prompt + 1 + spec.speculation.tokens) +
                                  static_cast<double>(request.output - 2) / 2;
    const std::int64_t shared = spec.load.common_prefix > 0 ? request.prefix / page * page : 0;
    return static_cast<double>(spec.cache.pages_for_mean(held - static_cast<double>(shared)));
}

/// Returns the maximum of concurrent decoding sequences: the cache may have room for fewer than
/// there are slots. Buffers of all slots always fit.
std::int64_t sequences_at_once(const ServingSpec& spec, double pages_each) {
    const std::int64_t slots = spec.batching.slots;
    if (!spec.cache.pages || spec.cache.length > 0) {
        return slots;
    }
    const std::int64_t common =
        spec.cache.pages_for(spec.load.common_prefix / spec.cache.page * spec.cache.page);
    const std::int64_t of_part = *spec.cache.pages / spec.cache.parts - common;
    const double most = std::floor(static_cast<double>(of_part) / pages_each) *
                        static_cast<double>(spec.cache.parts);
    return most < static_cast<double>(slots) ? std::max<std::int64_t>(1, std::llround(most))
                                             : slots;
}

/// An exact source behind a grid, or behind a cache of its answers.
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

InterpolatedStepTimes::InterpolatedStepTimes(StepTimes& exact, std::int64_t per_octave,
                                             const GridLimits& limits)
    : exact_(exact), buckets_(exact), per_octave_(per_octave), limits_(limits) {}

InterpolatedStepTimes::Between InterpolatedStepTimes::between(double value, const Axis& axis) {
    const auto whole = static_cast<std::int64_t>(value);
    if (whole >= axis.limit) {
        return {axis.limit, axis.limit, 0};
    }
    if (whole < axis.first) {
        const std::int64_t high = std::min(axis.first, axis.limit);
        return {axis.least, high,
                (value - static_cast<double>(axis.least)) / static_cast<double>(high - axis.least)};
    }
    const auto octave =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(whole)));
    const std::int64_t step = std::max<std::int64_t>(1, octave / axis.per_octave);
    const std::int64_t low = whole / step * step;
    const std::int64_t high = std::min(low + step, axis.limit);
    return {low, high, (value - static_cast<double>(low)) / static_cast<double>(high - low)};
}

sim::Time InterpolatedStepTimes::time_of(const StepShape& shape) {
    remember(shape);
    if (shape.full == 0) {
        return sim::whole_picoseconds(interpolated(shape));
    }
    const auto all_like = [&](std::int64_t cached, std::int64_t sequences) {
        StepShape alike = shape;
        alike.full = alike.full_cached = 0;
        alike.decode_cached =
            std::llround(mean_of(cached, sequences) * static_cast<double>(shape.decoding));
        return interpolated(alike) * mean_of(sequences, shape.decoding);
    };
    return sim::whole_picoseconds(
        all_like(shape.full_cached, shape.full) +
        all_like(shape.decode_cached - shape.full_cached, shape.decoding - shape.full));
}

double InterpolatedStepTimes::interpolated(const StepShape& shape) {
    const Prompts prompts = equal_prompts(shape.prompts);
    const bool mixed = shape.decoding > 0 && prompts.count > 0;
    const auto points = [&](std::int64_t coarser) {
        return mixed ? std::max<std::int64_t>(1, per_octave_ / coarser) : per_octave_;
    };
    const auto sequences = [&](std::int64_t count, std::int64_t coarser) {
        return between(static_cast<double>(count), {limits_.sequences, points(coarser)});
    };
    const auto tokens = [&](double mean, std::int64_t count, std::int64_t coarser,
                            std::int64_t least) {
        const std::int64_t first = std::max(kRows / points(coarser), least + 1);
        return between(mean, {limits_.context, points(coarser), count == 0 ? 0 : least, first});
    };
    const std::array<Between, 5> axes{
        sequences(shape.decoding, 2),
        tokens(mean_of(shape.decode_cached, shape.decoding), shape.decoding, 2, 0),
        sequences(prompts.count, 4), tokens(prompts.tokens, prompts.count, 4, 1),
        tokens(prompts.cached, prompts.count, 4, 0)};
    const std::int64_t compiled =
        shape.padding > 0 ? shape.decoding * shape.decode_tokens + shape.padding : 0;
    double picoseconds = 0;
    for (unsigned corner = 0; corner < 1U << axes.size(); ++corner) {
        double weight = 1;
        std::array<std::int64_t, 5> at{};
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            const bool high = (corner >> axis & 1U) != 0;
            weight *= high ? axes[axis].towards_high : 1 - axes[axis].towards_high;
            at[axis] = high ? axes[axis].high : axes[axis].low;
        }
        if (weight == 0) {
            continue;
        }
        StepShape bucket{
            .decoding = at[0],
            .decode_cached = at[0] * at[1],
            .decode_tokens = shape.decode_tokens,
            .padding = std::max<std::int64_t>(0, compiled - at[0] * shape.decode_tokens)};
        // A prompt part has at least one token, but a corner without prompts has none.
        const std::int64_t ends =
            prompts.ends == prompts.count ? at[2] : std::min(prompts.ends, at[2]);
        for (std::int64_t i = 0; i < at[2]; ++i) {
            bucket.prompts.push_back({std::max<std::int64_t>(at[3], 1), at[4], i < ends});
        }
        picoseconds += weight * static_cast<double>(buckets_.time_of(bucket).ps);
    }
    return picoseconds;
}

void InterpolatedStepTimes::remember(const StepShape& shape) {
    ++asked_;
    if (drawn_.size() < kSamples) {
        drawn_.push_back(shape);
        return;
    }
    // Reservoir sampling (Vitter's algorithm R): a new shape replaces a drawn one with probability
    // kSamples / asked.
    const std::uint64_t place = sim::next_random(random_) % asked_;
    if (place < kSamples) {
        drawn_[place] = shape;
    }
}

GridError InterpolatedStepTimes::measure_error(std::size_t samples) {
    GridError error;
    error.buckets = buckets_.asked();
    const std::vector<StepShape> drawn(
        drawn_.begin(),
        drawn_.begin() + static_cast<std::ptrdiff_t>(std::min(samples, drawn_.size())));
    for (const StepShape& shape : drawn) {
        const auto exact = static_cast<double>(exact_.time_of(shape).ps);
        const auto interpolated = static_cast<double>(time_of(shape).ps);
        const double missed = exact == 0 ? 0 : std::abs(interpolated - exact) / exact;
        ++error.samples;
        error.mean += missed;
        if (missed > error.largest) {
            error.largest = missed;
            error.worst = shape;
        }
    }
    error.mean /= static_cast<double>(std::max<std::size_t>(error.samples, 1));
    return error;
}

double Balance::most_per_s(double prefill_servers, double generate_servers) const {
    const double decoding =
        generate_s > 0 ? generate_servers / generate_s : std::numeric_limits<double>::infinity();
    const double prompts =
        prefill_s > 0 ? prefill_servers / prefill_s : std::numeric_limits<double>::infinity();
    return std::min(decoding, prompts);
}

Balance balance_of(const ServingSpec& spec, const ServingTimes& times) {
    const std::vector<Request> requests = draw_requests(spec.load);
    const StepCost prefill(spec, times.prefill != nullptr ? *times.prefill : *times.steps,
                           times.draft);
    const StepCost generate(spec, *times.steps, times.draft);
    double decodes = 0;
    double contexts = 0;
    double pages = 0;
    for (const Request& request : requests) {
        // Step i of 1 .. output - 1 finds prompt + i - 1 tokens in the cache.
        const auto steps = static_cast<double>(request.output - 1);
        decodes += steps;
        contexts += steps * (static_cast<double>(request.prompt) + (steps - 1) / 2);
        pages += steps > 0 ? steps * decoding_pages(spec, request) : 0;
    }
    Balance balance;
    balance.prefill_s = mean_prefill(spec, prefill, requests);
    if (decodes == 0) {
        return balance;
    }
    balance.context = contexts / decodes;
    balance.sequences = sequences_at_once(spec, pages / decodes);
    const auto full_batch = static_cast<double>(balance.sequences);
    const StepShape step = as_compiled(
        {.decoding = balance.sequences,
         .decode_cached = static_cast<std::int64_t>(std::round(balance.context * full_batch)),
         .decode_tokens = 1 + spec.speculation.tokens},
        spec);
    balance.generate_s = decodes / static_cast<double>(requests.size()) /
                         tokens_a_step(spec.speculation) * generate.of(step, true).seconds() /
                         full_batch;
    balance.ratio = balance.generate_s > 0 ? balance.prefill_s / balance.generate_s : 0;
    return balance;
}

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
