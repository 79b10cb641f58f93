// Step times from a grid of buckets that an exact source fills as they are needed, linear between them.
//
// Five coordinates: decoding sequences, the mean of their caches, prompts, the means of their new and of
// their cached tokens. Along each the grid has the powers of two and `per_octave` - 1 points evenly between neighbours
// (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... for 4), and the largest value that can occur; rows that fill a compiled step up
// are those that a corner lacks; along the three of tokens the
// first after none is 128 / per_octave, since an array takes 128 rows or keys as long as one. Steps that mix prompts
// and decodes have all five coordinates, so their grid is coarser: half of the points of decodes, a quarter of prompts'
// (some 1200 buckets in place of 3200 for 10,000 requests with lognormal lengths). A step's time is the
// multilinear interpolation of its up to 2^5 corners: a time a + b n + c n x of n sequences with caches of mean x is met
// exactly; one that is twice differentiable along a coordinate is missed there by at most h^2 / 8 times its second
// derivative, h the distance of the points. A step whose coordinates are all points of the grid is that of the exact source.
//
// n unequal prompts of f_i new tokens behind c_i stand for n equal ones of the same tokens and the same pairs of a query and a key: behind
//   c = (sum of f_i (c_i + f_i / 2) - F^2 / 2n) / F   tokens, F the sum of f_i,
// never fewer than none, and the mean of equal ones. Decodes of which some have full windows take what the two kinds take, by their numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "scenarios/serve/step_times.h"

namespace podsim::scenarios {

/// The largest values that can occur: the grid ends there, and the exact source is asked for nothing beyond.
struct GridLimits {
    std::int64_t sequences = 1 << 20;  ///< in a step, decoding or prefilling
    std::int64_t context = 1 << 24;    ///< tokens of one sequence
};

/// How far interpolated times are from those of the exact source, by steps drawn from all that were asked for.
struct GridError {
    std::size_t buckets = 0;  ///< that the exact source was asked for
    std::size_t samples = 0;
    double mean = 0;     ///< of |interpolated - exact| / exact
    double largest = 0;  ///< of the same
    StepShape worst;
};

class InterpolatedStepTimes final : public StepTimes {
public:
    /// `exact` must outlive this. `per_octave` from 1 to 64.
    InterpolatedStepTimes(StepTimes& exact, std::int64_t per_octave, const GridLimits& limits);

    sim::Time time_of(const StepShape& shape) override;

    /// Asks the exact source for up to `samples` of the shapes that were asked for here, all equally likely to be drawn,
    /// and compares. At most kSamples.
    [[nodiscard]] GridError measure_error(std::size_t samples = kSamples);

    /// How many buckets the exact source was asked for.
    [[nodiscard]] std::size_t buckets() const { return buckets_.asked(); }

    static constexpr std::size_t kSamples = 64;
    static constexpr std::int64_t kRows = 128;

private:
    struct Between {
        std::int64_t low = 0;
        std::int64_t high = 0;
        double towards_high = 0;  ///< 0 at low, 1 at high
    };
    struct Axis {
        std::int64_t limit = 0;
        std::int64_t per_octave = 1;
        std::int64_t least = 0;
        std::int64_t first = 1;  ///< the next point
    };
    [[nodiscard]] static Between between(double value, const Axis& axis);
    void remember(const StepShape& shape);
    /// Of a shape whose decodes are alike.
    [[nodiscard]] double interpolated(const StepShape& shape);

    StepTimes& exact_;
    MemoisedStepTimes buckets_;
    std::int64_t per_octave_;
    GridLimits limits_;
    std::uint64_t asked_ = 0;
    std::uint64_t random_ = 1;
    std::vector<StepShape> drawn_;  ///< a uniform sample of what was asked for
};

}  // namespace podsim::scenarios
