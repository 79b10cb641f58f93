// Collects the answers of a search: the ten best plans, those near the best, and the Pareto front.
// It also proves which plans can enter none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scenarios/src/search/memory_fit.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/search/search_spec.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

inline constexpr std::size_t kBest = 10;
/// Plans within this fraction of the best are as good as it, given how well rates are known. At
/// most kMostNear of them are examined.
inline constexpr double kNear = 0.03;
inline constexpr std::size_t kMostNear = 16;

/// The front extends by this fraction beyond the best.
inline constexpr double kFrontEnds = 0.25;

/// A plan that was simulated and fits.
struct FoundPlan {
    Candidate candidate;
    PlanFacts facts;
    sim::Time step_time;
    double peak = 0;          ///< bytes
    std::uint64_t place = 0;  ///< index in the space

    /// True if the account of its memory leaves open whether the plan fits.
    [[nodiscard]] bool tight() const { return is_tight(peak, facts.capacity); }

    [[nodiscard]] double mfu() const {
        return facts.flops / (facts.peak_flops * step_time.seconds());
    }
    [[nodiscard]] double tokens_per_s() const {
        return static_cast<double>(facts.tokens) / step_time.seconds();
    }
    /// Returns the peak as a percentage of the capacity.
    [[nodiscard]] int percent_of_memory() const;
};

/// Rank of a plan under the objective; less is better. `first` decides, then the step's
/// picoseconds. If two plans are as good, the one that fits for sure is better.
struct Score {
    double first = 0;
    std::int64_t ps = 0;
    bool tight = false;
    std::uint64_t place = 0;
    auto operator<=>(const Score&) const = default;
};
Score score_of(SearchObjective objective, const PlanFacts& facts, sim::Time time,
               std::uint64_t place, bool tight = false);
/// Returns how many times worse `one` is than `other`: the ratio of steps, of MFU, or of cost. It
/// is infinite if the fewest chips are asked for and `one` needs more.
double times_as_bad(SearchObjective objective, const Score& one, const Score& other);

/// The best plans, those near the best, and the Pareto front of all plans that were added.
class Answers {
public:
    explicit Answers(const SearchSpec& spec) : spec_(spec) {}

    void add(const FoundPlan& found);
    /// True if a plan that takes at least the candidate's bound enters none of the answers. If this
    /// holds for a bound, it holds for all longer ones, and it stays true whatever is added later.
    [[nodiscard]] bool is_useless(const PlanFacts& facts, const Candidate& candidate) const;
    /// Returns the longest step with which a candidate may be of use.
    [[nodiscard]] sim::Time longest_of_use(const PlanFacts& facts, Candidate candidate) const;

    [[nodiscard]] bool empty() const { return best_.empty(); }
    [[nodiscard]] const Score& best_score() const { return best_.front().first; }
    [[nodiscard]] std::vector<FoundPlan> best() const;
    [[nodiscard]] std::vector<FoundPlan> near() const;
    /// Returns the Pareto front in the order of step times.
    [[nodiscard]] std::vector<FoundPlan> front() const;

private:
    /// Values that the front compares, of a plan or of the best that a candidate may be.
    struct Point {
        std::int64_t ps = 0;
        int memory = 0;  ///< in twentieths of the capacity, rounded up
        int chips = 0;
        std::int64_t tokens = 0;
        /// Cost of a step; 0 if no price is known.
        double usd = 0;
        /// Score::first. A plan that beats another is no further from the best.
        double score = 0;
        std::uint64_t place = 0;

        /// True if the other is no better in anything, and is worse in something or later in the
        /// space. Steps of different batches do not compare.
        [[nodiscard]] bool beats(const Point& other) const;
    };
    [[nodiscard]] Point point_of(const PlanFacts& facts, sim::Time time, double peak,
                                 std::uint64_t place) const;

    const SearchSpec& spec_;
    /// At most kMostNear plans, the best first.
    std::vector<std::pair<Score, FoundPlan>> best_;
    void add_to_best(const FoundPlan& found);
    std::vector<std::pair<Point, FoundPlan>> front_;
};

}  // namespace podsim::scenarios
