#include "scenarios/serve/interpolated_step_times.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "sim/base/random.h"

namespace podsim::scenarios {
namespace {

double mean_of(std::int64_t sum, std::int64_t count) {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

/// Equal prompts in place of unequal ones.
struct Prompts {
    std::int64_t count = 0;
    double tokens = 0;  ///< new ones of each
    double cached = 0;  ///< before them
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
        // A prompt part has at least a token, and a corner of no prompts no tokens.
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
    // Reservoir sampling (Vitter's algorithm R): the new one replaces a drawn one with probability kSamples / asked.
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

}  // namespace podsim::scenarios
