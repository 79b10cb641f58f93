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
    const bool mixed = shape.decoding > 0 && shape.prefilling > 0;
    const auto points = [&](std::int64_t coarser) {
        return mixed ? std::max<std::int64_t>(1, per_octave_ / coarser) : per_octave_;
    };
    const auto sequences = [&](std::int64_t count, std::int64_t coarser) {
        return between(static_cast<double>(count), {limits_.sequences, points(coarser)});
    };
    const auto tokens = [&](std::int64_t sum, std::int64_t count, std::int64_t coarser,
                            std::int64_t least) {
        const std::int64_t first = std::max(kRows / points(coarser), least + 1);
        return between(mean_of(sum, count),
                       {limits_.context, points(coarser), count == 0 ? 0 : least, first});
    };
    const std::array<Between, 5> axes{
        sequences(shape.decoding, 2), tokens(shape.decode_cached, shape.decoding, 2, 0),
        sequences(shape.prefilling, 4), tokens(shape.prefill_tokens, shape.prefilling, 4, 1),
        tokens(shape.prefill_cached, shape.prefilling, 4, 0)};
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
        // A prompt part has at least a token a sequence, and a corner of no sequences no tokens.
        const std::int64_t new_tokens = std::max<std::int64_t>(at[3], 1);
        const bool all_end = shape.finishing == shape.prefilling;
        const StepShape bucket{
            .decoding = at[0],
            .decode_cached = at[0] * at[1],
            .decode_tokens = shape.decode_tokens,
            .padding = std::max<std::int64_t>(0, compiled - at[0] * shape.decode_tokens),
            .prefilling = at[2],
            .prefill_tokens = at[2] * new_tokens,
            .prefill_cached = at[2] * at[4],
            .finishing = all_end ? at[2] : std::min(shape.finishing, at[2])};
        picoseconds += weight * static_cast<double>(buckets_.time_of(bucket).ps);
    }
    return sim::whole_picoseconds(picoseconds);
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
