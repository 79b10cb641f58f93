// A serving run with its grid of step times, and the figures of its report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/src/serve/serving_loop.h"
#include "scenarios/src/serve/step_times.h"
#include "scenarios/src/serve/summary.h"

namespace podsim::scenarios {

// Step times by linear interpolation on a grid of buckets, which an exact source fills on demand.
//
// The five coordinates are: decoding sequences, the mean of their caches, prompts, and the means of
// their new and of their cached tokens. Along each the grid has the powers of two, `per_octave` - 1
// points evenly between neighbours (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ... for 4), and the
// largest value that can occur. Along the three of tokens the first point after the lowest is 128 /
// per_octave, since an array takes 128 rows or keys as long as one. Rows that pad a compiled step
// are those that a corner lacks. Steps that mix prompts and decodes have all five coordinates, so
// their grid is coarser: half of the points for decodes, a quarter for prompts (about 1200 buckets
// in place of 3200 for 10,000 requests with lognormal lengths).
//
// A step's time is the multilinear interpolation of up to 2^5 corners. A time a + b n + c n x of n
// sequences with caches of mean x is exact. The error for a time that is twice differentiable along
// a coordinate is at most h^2 / 8 times its second derivative, with h the distance of the points. A
// step whose coordinates are all points of the grid has the time of the exact source.
//
// n unequal prompts of f_i new tokens behind c_i stand for n equal ones with the same tokens and
// the same pairs of a query and a key. Each has the mean of new tokens, behind
//   c = (sum of f_i (c_i + f_i / 2) - F^2 / 2n) / F   tokens, F the sum of f_i,
// but at least 0; for equal prompts that is their own. If some decodes have full windows, each kind
// contributes its own time, weighted by its number.

/// The largest values that can occur. The grid ends there, and the exact source is never asked for
/// more.
struct GridLimits {
    std::int64_t sequences = 1 << 20;  ///< in a step, decoding or prefilling
    std::int64_t context = 1 << 24;    ///< tokens of one sequence
};

/// Error of interpolated times against the exact source, over a sample of all shapes that were
/// requested.
struct GridError {
    std::size_t buckets = 0;  ///< requested from the exact source
    std::size_t samples = 0;
    double mean = 0;     ///< of |interpolated - exact| / exact
    double largest = 0;  ///< largest of the same
    StepShape worst;
};

class InterpolatedStepTimes final : public StepTimes {
public:
    /// `exact` must outlive this. `per_octave` is from 1 to 64.
    InterpolatedStepTimes(StepTimes& exact, std::int64_t per_octave, const GridLimits& limits);

    sim::Time time_of(const StepShape& shape) override;

    /// Compares up to `samples`, at most kSamples, of the requested shapes with the exact source.
    /// All shapes are equally likely to be in the sample.
    [[nodiscard]] GridError measure_error(std::size_t samples = kSamples);

    /// Number of buckets requested from the exact source.
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
    /// Returns the time of a shape whose decodes are alike.
    [[nodiscard]] double interpolated(const StepShape& shape);

    StepTimes& exact_;
    MemoisedStepTimes buckets_;
    std::int64_t per_octave_;
    GridLimits limits_;
    std::uint64_t asked_ = 0;
    std::uint64_t random_ = 1;
    std::vector<StepShape> drawn_;  ///< a uniform sample of the requested shapes
};

/// A request costs a prefill server the step of its prompt alone. It costs a full generate server
/// its fraction of the decode steps: (output - 1) / tokens a step x t(n, mean context) / n. The
/// server runs n sequences: one per slot, or as many as its cache has room for. If every slot has a
/// buffer that is read whole, or the step is compiled for more sequences, t is that of these. Both
/// kinds of servers are equally busy if prefill : generate servers are as those two times.
struct Balance {
    double prefill_s = 0;        ///< of a prefill server per request
    double generate_s = 0;       ///< of a generate server per request
    std::int64_t sequences = 0;  ///< concurrent on a full generate server
    /// Mean tokens in the cache of a decoding sequence, over all decode steps.
    double context = 0;
    /// Prefill servers per generate server: prefill_s / generate_s; 0 if nothing is decoded.
    double ratio = 0;

    /// Returns the maximum of requests per second that these servers can serve.
    [[nodiscard]] double most_per_s(double prefill_servers, double generate_servers) const;
};

/// Returns the balance, with prompts from up to kPrompts requests, spread evenly over the run.
Balance balance_of(const ServingSpec& spec, const ServingTimes& times);

inline constexpr std::size_t kPrompts = 256;

struct ServingRun {
    std::string name;
    std::int64_t chips = 1;  ///< of all servers together
    std::optional<double> usd_per_chip_hour{};
    std::vector<std::string> warnings{};  ///< on its chips (profile_warnings)
    ServingSpec spec;
    ServingResult result;
    ServingSummary summary;
    Balance balance;
    /// Errors of the grids: of the steps, and of disaggregated prefill if it has step times of its
    /// own. None with `grid: exact`.
    std::optional<GridError> step_grid;
    std::optional<GridError> prefill_grid;
    /// Number of buckets requested from exact sources during the run, including those of drafts.
    std::size_t buckets = 0;
};

/// Returns the price of all chips for the time of a million output tokens; none without a price, or
/// without tokens.
std::optional<double> usd_per_million_output_tokens(const ServingRun& run);

/// Serves with the spec's grid over exact step times. Each source is asked once for a bucket, or
/// (`grid: exact`) once for every shape. Throws as serve() does. Without `measure` the grids'
/// errors are left out.
ServingRun run_serving(std::string name, std::int64_t chips, const ServingSpec& spec,
                       const ServingTimes& exact, bool measure = true, Watch* watch = nullptr);

}  // namespace podsim::scenarios
