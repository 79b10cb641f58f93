#include "scenarios/search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "scenarios/simulate/simulate.h"
#include "scenarios/study/parallel.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr double kPercent = 100;

int percent_of(double bytes, double capacity) {
    return static_cast<int>(std::ceil(kPercent * bytes / capacity));
}

/// What the front compares, of a plan or of the best that a candidate may be.
struct Point {
    std::int64_t ps = 0;
    int memory = 0;
    int chips = 0;
    std::int64_t tokens = 0;
    double usd = 0;    ///< of a step; 0 where no price is known
    double score = 0;  ///< Score::first: what beats a plan is no further from the best
    std::uint64_t place = 0;

    /// Whether the other is no better in anything, and worse in something or later in the space. Steps of different batches do not compare.
    [[nodiscard]] bool beats(const Point& other) const {
        if (tokens != other.tokens || ps > other.ps || memory > other.memory ||
            chips > other.chips || usd > other.usd || score > other.score) {
            return false;
        }
        return ps < other.ps || memory < other.memory || chips < other.chips || usd < other.usd ||
               score < other.score || place < other.place;
    }
};

Point point_of(SearchObjective objective, const PlanFacts& facts, sim::Time time, double peak,
               std::uint64_t place) {
    return {time.ps,
            percent_of(peak, facts.capacity),
            facts.chips,
            facts.tokens,
            facts.usd_per_second ? *facts.usd_per_second * time.seconds() : 0,
            score_of(objective, facts, time, place).first,
            place};
}

/// What is asked of a step besides its memory.
bool is_wanted(const SearchSpec& spec, const PlanFacts& facts, sim::Time time) {
    if (spec.asked.deadline_s && time.seconds() > *spec.asked.deadline_s) {
        return false;
    }
    const double steps = facts.run_tokens.value_or(0) / static_cast<double>(facts.tokens);
    return !spec.asked.budget_usd ||
           facts.usd_per_second.value_or(0) * time.seconds() * steps <= *spec.asked.budget_usd;
}

/// What a simulation of a candidate came to.
struct Trial {
    bool skipped = false;  ///< it was proven useless before it was begun
    bool stopped = false;  ///< it was ended before its end
    std::string refused{};
    sim::Time step_time{};
    double peak = 0;
};

class Search {
public:
    Search(const SearchSpace& space, const SearchOptions& options)
        : space_(space), spec_(space.spec()), options_(options) {}

    SearchResult run() {
        list_ = space_.candidates(options_.jobs, options_.watch);
        result_.enumerated = list_.enumerated;
        result_.refused = list_.refused;
        result_.unfit_by_bound = list_.unfit;
        order_.resize(list_.candidates.size());
        for (std::size_t i = 0; i < order_.size(); ++i) {
            order_[i] = i;
        }
        std::ranges::sort(order_, {}, [&](std::size_t i) { return bound_score(i); });
        QuietWatch pieces(options_.watch);
        run_in_order(
            0, order_.size(), options_.jobs,
            [&](std::size_t i) { return simulate(order_[i], &pieces); },
            [&](std::size_t i, const Trial& trial) { take(i, trial); }, options_.stop);
        finish();
        return std::move(result_);
    }

private:
    [[nodiscard]] const PlanFacts& facts(std::size_t place) const {
        return list_.facts[list_.candidates[place].facts];
    }
    [[nodiscard]] Score bound_score(std::size_t place) const {
        return score_of(spec_.asked.objective, facts(place), list_.candidates[place].bound, place);
    }

    /// Whether its bound proves that it enters none of the answers.
    [[nodiscard]] bool is_useless(std::size_t place) const {
        if (!options_.prunes) {
            return false;
        }
        const Candidate& candidate = list_.candidates[place];
        if (!is_wanted(spec_, facts(place), candidate.bound)) {
            return true;
        }
        const Score score = bound_score(place);
        if (best_.size() < kBest || score < best_[kBest - 1].first) {
            return false;
        }
        const double times = times_as_bad(spec_.asked.objective, score, best_.front().first);
        if (times > 1 + kFrontEnds) {
            return true;
        }
        if (times <= 1 + kNear && (best_.size() < kMostNear || score < best_.back().first)) {
            return false;
        }
        const Point point = point_of(spec_.asked.objective, facts(place), candidate.bound,
                                     facts(place).least_peak, place);
        return std::ranges::any_of(front_, [&](const auto& one) { return one.first.beats(point); });
    }

    Trial simulate(std::size_t place, Watch* watch) {
        {
            const std::scoped_lock lock(mutex_);
            if (is_useless(place)) {
                return {.skipped = true};
            }
        }
        const Candidate& candidate = list_.candidates[place];
        try {
            const StepResult result =
                simulate_step(space_.scenario(facts(place), candidate), Fold::automatic,
                              {.explain = false, .watch = watch});
            return {.step_time = result.step_time, .peak = result.memory.peak.value()};
        } catch (const sim::InputError& error) {
            return {.refused = reason_of(error)};
        } catch (const sim::TimeOverflow&) {
            return {.refused = std::string(kBeyondTheClock)};
        } catch (const Stopped&) {
            return {.stopped = true};
        }
    }

    /// In the order of the candidates. What was begun before the proof was there, and is now proven useless, is not counted.
    void take(std::size_t i, const Trial& trial) {
        const std::scoped_lock lock(mutex_);
        const std::size_t place = order_[i];
        ended_ = ended_ || trial.stopped;
        if (ended_) {
            return;
        }
        taken_ = i + 1;
        try {
            tell(options_.watch, Phase::searching,
                 static_cast<double>(taken_) / static_cast<double>(order_.size()));
        } catch (const Stopped&) {
            // What has been found counts; `stop` and the simulations under way end the search.
        }
        if (trial.skipped || is_useless(place)) {
            ++result_.pruned;
            return;
        }
        if (!trial.refused.empty()) {
            ++result_.refused[trial.refused];
            return;
        }
        const PlanFacts& plan = facts(place);
        if (trial.peak > plan.capacity * (1 - spec_.asked.memory_margin) ||
            !is_wanted(spec_, plan, trial.step_time)) {
            ++result_.unfit_simulated;
            return;
        }
        ++result_.simulated;
        tightness_ += list_.candidates[place].bound.seconds() / trial.step_time.seconds();
        add(place, trial);
    }

    void add(std::size_t place, const Trial& trial) {
        const FoundPlan found{list_.candidates[place], facts(place), trial.step_time, trial.peak,
                              place};
        const std::pair scored{score_of(spec_.asked.objective, found.facts, found.step_time, place),
                               found};
        best_.insert(std::ranges::upper_bound(best_, scored.first, {},
                                              [](const auto& one) { return one.first; }),
                     scored);
        if (best_.size() > kMostNear) {
            best_.pop_back();
        }
        const Point point =
            point_of(spec_.asked.objective, found.facts, found.step_time, found.peak, place);
        if (std::ranges::any_of(front_, [&](const auto& one) { return one.first.beats(point); })) {
            return;
        }
        std::erase_if(front_, [&](const auto& one) { return point.beats(one.first); });
        front_.emplace_back(point, found);
    }

    void finish() {
        for (std::size_t i = 0; i < best_.size(); ++i) {
            if (i < kBest) {
                result_.best.push_back(best_[i].second);
            }
            if (times_as_bad(spec_.asked.objective, best_[i].first, best_.front().first) <=
                1 + kNear) {
                result_.near.push_back(best_[i].second);
            }
        }
        std::ranges::sort(front_, {},
                          [](const auto& one) { return std::pair(one.first.ps, one.first.place); });
        for (const auto& [point, found] : front_) {
            const Score score =
                score_of(spec_.asked.objective, found.facts, found.step_time, found.place);
            if (times_as_bad(spec_.asked.objective, score, best_.front().first) <= 1 + kFrontEnds) {
                result_.front.push_back(found);
            }
        }
        if (result_.simulated > 0) {
            result_.tightness = tightness_ / static_cast<double>(result_.simulated);
        }
        if (taken_ < order_.size()) {
            result_.complete = false;
            result_.gap = best_.empty() ? std::numeric_limits<double>::infinity()
                                        : times_as_bad(spec_.asked.objective, best_.front().first,
                                                       bound_score(order_[taken_])) -
                                              1;
            result_.gap = std::max(result_.gap, 0.0);
        }
    }

    const SearchSpace& space_;
    const SearchSpec& spec_;
    const SearchOptions& options_;
    CandidateList list_;
    std::vector<std::size_t> order_;  ///< places of candidates
    std::mutex mutex_;
    std::vector<std::pair<Score, FoundPlan>> best_;  ///< at most kMostNear, the best first
    std::vector<std::pair<Point, FoundPlan>> front_;
    SearchResult result_;
    std::size_t taken_ = 0;
    bool ended_ = false;  ///< somebody has asked to stop
    double tightness_ = 0;
};

}  // namespace

int FoundPlan::percent_of_memory() const {
    return percent_of(peak, facts.capacity);
}

std::uint64_t SearchResult::refused_in_all() const {
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : refused) {
        sum += count;
    }
    return sum;
}

Score score_of(SearchObjective objective, const PlanFacts& facts, sim::Time time,
               std::uint64_t place) {
    switch (objective) {
        case SearchObjective::step_time:
            return {0, time.ps, place};
        case SearchObjective::mfu:
            return {time.seconds() * facts.peak_flops / facts.flops, time.ps, place};
        case SearchObjective::cost:
            return {facts.usd_per_second.value_or(0) * time.seconds() /
                        static_cast<double>(facts.tokens),
                    time.ps, place};
        case SearchObjective::chips:
            return {static_cast<double>(facts.chips), time.ps, place};
    }
    return {};
}

double times_as_bad(SearchObjective objective, const Score& one, const Score& other) {
    const double of_times = static_cast<double>(one.ps) / static_cast<double>(other.ps);
    switch (objective) {
        case SearchObjective::mfu:
        case SearchObjective::cost:
            return one.first / other.first;
        case SearchObjective::chips:
            return one.first > other.first ? std::numeric_limits<double>::infinity() : of_times;
        case SearchObjective::step_time:
            break;
    }
    return of_times;
}

SearchResult search(const SearchSpace& space, const SearchOptions& options) {
    return Search(space, options).run();
}

}  // namespace podsim::scenarios
