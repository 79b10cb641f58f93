// What a search answers: the ten best, those near the best, and the Pareto front; and which plans can enter none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scenarios/space/memory_fit.h"
#include "scenarios/space/search_space.h"
#include "scenarios/space/search_spec.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

inline constexpr std::size_t kBest = 10;
/// Plans within this share of the best are as good as it, as far as rates are known; of these at most kMostNear are looked at.
inline constexpr double kNear = 0.03;
inline constexpr std::size_t kMostNear = 16;

/// The front goes so far beyond the best.
inline constexpr double kFrontEnds = 0.25;

/// A plan that was simulated, and fits.
struct FoundPlan {
    Candidate candidate;
    PlanFacts facts;
    sim::Time step_time;
    double peak = 0;          ///< bytes
    std::uint64_t place = 0;  ///< in the space

    /// The account of its memory leaves open if it fits.
    [[nodiscard]] bool tight() const { return is_tight(peak, facts.capacity); }

    [[nodiscard]] double mfu() const {
        return facts.flops / (facts.peak_flops * step_time.seconds());
    }
    [[nodiscard]] double tokens_per_s() const {
        return static_cast<double>(facts.tokens) / step_time.seconds();
    }
    /// Of the capacity.
    [[nodiscard]] int percent_of_memory() const;
};

/// What the objective goes by: less is better. First what comes first, then the step's picoseconds; of two that are as good that which
/// fits for sure.
struct Score {
    double first = 0;
    std::int64_t ps = 0;
    bool tight = false;
    std::uint64_t place = 0;
    auto operator<=>(const Score&) const = default;
};
Score score_of(SearchObjective objective, const PlanFacts& facts, sim::Time time,
               std::uint64_t place, bool tight = false);
/// How many times as bad as another: of steps, MFU or cost; infinite where more chips are needed.
double times_as_bad(SearchObjective objective, const Score& one, const Score& other);

/// Of all plans that were added.
class Answers {
public:
    explicit Answers(const SearchSpec& spec) : spec_(spec) {}

    void add(const FoundPlan& found);
    /// Whether a plan that takes at least the candidate's bound enters none of the answers. True of a bound it is of all that are
    /// longer, and it stays true whatever else is added.
    [[nodiscard]] bool is_useless(const PlanFacts& facts, const Candidate& candidate) const;
    /// The longest step with which a candidate may be of use.
    [[nodiscard]] sim::Time longest_of_use(const PlanFacts& facts, Candidate candidate) const;

    [[nodiscard]] bool empty() const { return best_.empty(); }
    [[nodiscard]] const Score& best_score() const { return best_.front().first; }
    [[nodiscard]] std::vector<FoundPlan> best() const;
    [[nodiscard]] std::vector<FoundPlan> near() const;
    /// By step time.
    [[nodiscard]] std::vector<FoundPlan> front() const;

private:
    /// What the front compares, of a plan or of the best that a candidate may be.
    struct Point {
        std::int64_t ps = 0;
        int memory = 0;  ///< in twentieths of the capacity, rounded up
        int chips = 0;
        std::int64_t tokens = 0;
        double usd = 0;    ///< of a step; 0 where no price is known
        double score = 0;  ///< Score::first: what beats a plan is no further from the best
        std::uint64_t place = 0;

        /// Whether the other is no better in anything, and worse in something or later in the space. Steps of different batches do not compare.
        [[nodiscard]] bool beats(const Point& other) const;
    };
    [[nodiscard]] Point point_of(const PlanFacts& facts, sim::Time time, double peak,
                                 std::uint64_t place) const;

    const SearchSpec& spec_;
    /// At most kMostNear, the best first.
    std::vector<std::pair<Score, FoundPlan>> best_;
    void add_to_best(const FoundPlan& found);
    std::vector<std::pair<Point, FoundPlan>> front_;
};

}  // namespace podsim::scenarios
