#include "scenarios/search/search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "scenarios/run/run_step.h"
#include "scenarios/simulate/simulate.h"
#include "scenarios/space/candidates.h"
#include "scenarios/study/parallel.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

constexpr double kPercent = 100;
/// So many of the most likely are tried before all others.
constexpr std::size_t kLookedAtFirst = 32;
/// A run may take a hundred times as long as those behind it, most of which are skipped.
constexpr std::size_t kWaitingPerThread = 256;
/// Plans of collective matmuls are outlined so many groups at a time.
constexpr std::size_t kRefinedAtOnce = 256;

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
    bool stopped = false;  ///< it was ended by a wish from outside
    std::string refused{};
    /// At its end; of a run that was ended because nothing came of it any more, what the step surely takes.
    sim::Time step_time{};
    double peak = 0;
};

/// Where a plan is in the space: the tie between plans that are as good.
std::uint64_t place_of(const PlanFacts& facts, const Candidate& candidate) {
    constexpr unsigned kBitsOfMesh = 32;
    return std::uint64_t{facts.setting} << kBitsOfMesh | candidate.mesh;
}

class Search {
public:
    Search(const SearchSpace& space, const SearchOptions& options)
        : space_(space),
          spec_(space.spec()),
          options_(options),
          bounding_(space, options.jobs, options.watch) {}

    SearchResult run() {
        add(bounding_.all());
        result_.enumerated = list_.enumerated;
        look_where_it_is_likely(0);
        while (!ended_ && next_rough_ < list_.rough.size()) {
            refine();
        }
        std::vector<std::size_t> rest;
        for (std::size_t i = 0; i < list_.candidates.size(); ++i) {
            if (!taken_[i]) {
                rest.push_back(i);
            }
        }
        std::ranges::sort(rest, {}, [&](std::size_t i) { return bound_score(i); });
        try_all(rest);
        finish();
        return std::move(result_);
    }

private:
    /// What has been bounded counts, and can be tried.
    void add(CandidateList more) {
        result_.unfit += more.unfit;
        for (const auto& [reason, times] : more.refused) {
            result_.refused[reason] += times;
        }
        const auto before = static_cast<std::uint32_t>(list_.facts.size());
        for (Candidate& candidate : more.candidates) {
            candidate.facts += before;
        }
        std::ranges::move(more.candidates, std::back_inserter(list_.candidates));
        std::ranges::move(more.facts, std::back_inserter(list_.facts));
        std::ranges::move(more.rough, std::back_inserter(list_.rough));
        list_.enumerated += more.enumerated;
        taken_.resize(list_.candidates.size());
    }

    /// Good plans prove much of the rest useless: of the candidates from `first` on, those that are likely to be good.
    void look_where_it_is_likely(std::size_t first) {
        std::vector<std::size_t> likely;
        for (std::size_t i = first; i < list_.candidates.size(); ++i) {
            likely.push_back(i);
        }
        const std::size_t count = std::min(kLookedAtFirst, likely.size());
        std::ranges::partial_sort(
            likely, likely.begin() + static_cast<std::ptrdiff_t>(count), {}, [&](std::size_t i) {
                const Candidate& candidate = list_.candidates[i];
                return score_of(spec_.asked.objective, facts(i), candidate.likely,
                                place_of(facts(i), candidate));
            });
        likely.resize(count);
        try_all(likely);
    }

    /// The next groups of plans that may be good are outlined.
    void refine() {
        std::vector<RoughGroup> groups;
        std::uint64_t useless = 0;
        std::size_t next = next_rough_;
        for (; next < list_.rough.size() && groups.size() < kRefinedAtOnce; ++next) {
            const RoughGroup& group = list_.rough[next];
            const Candidate best_of_all{.bound = group.bound, .mesh = group.meshes.front()};
            if (is_useless(group.facts, best_of_all)) {
                useless += group.meshes.size();
            } else {
                groups.push_back(group);
            }
        }
        const std::size_t before = list_.candidates.size();
        try {
            add(bounding_.refined(groups));
        } catch (const Stopped&) {
            ended_ = true;
            return;
        }
        result_.pruned += useless;
        next_rough_ = next;
        look_where_it_is_likely(before);
    }

    /// In that order, until somebody asks to stop.
    void try_all(const std::vector<std::size_t>& order) {
        if (ended_) {
            return;
        }
        QuietWatch pieces(options_.watch);
        run_in_order(
            0, order.size(), options_.jobs,
            [&](std::size_t i) { return simulate(order[i], &pieces); },
            [&](std::size_t i, const Trial& trial) {
                take(order[i], trial);
                report(static_cast<double>(i + 1) / static_cast<double>(order.size()));
            },
            options_.stop, kWaitingPerThread);
        ended_ = ended_ || options_.stop();
    }

    void report(double share) {
        try {
            tell(options_.watch, Phase::searching, share);
        } catch (const Stopped&) {
            // What has been found counts; `stop` and the simulations under way end the search.
        }
    }

    [[nodiscard]] const PlanFacts& facts(std::size_t i) const {
        return list_.facts[list_.candidates[i].facts];
    }
    [[nodiscard]] Score bound_score(std::size_t i) const {
        const Candidate& candidate = list_.candidates[i];
        return score_of(spec_.asked.objective, facts(i), candidate.bound,
                        place_of(facts(i), candidate));
    }

    /// Whether a plan that takes at least the candidate's bound enters none of the answers. True of a bound it is of all that are longer.
    [[nodiscard]] bool is_useless(const PlanFacts& facts, const Candidate& candidate) const {
        if (!options_.prunes) {
            return false;
        }
        if (!is_wanted(spec_, facts, candidate.bound)) {
            return true;
        }
        const std::uint64_t place = place_of(facts, candidate);
        const Score score = score_of(spec_.asked.objective, facts, candidate.bound, place);
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
        const Point point =
            point_of(spec_.asked.objective, facts, candidate.bound, facts.least_peak, place);
        return std::ranges::any_of(front_, [&](const auto& one) { return one.first.beats(point); });
    }

    /// The longest step with which a candidate may be of use.
    [[nodiscard]] sim::Time longest_of_use(std::size_t i) const {
        Candidate candidate = list_.candidates[i];
        const auto useless = [&](sim::Time time) {
            candidate.bound = time;
            return is_useless(facts(i), candidate);
        };
        constexpr std::int64_t kLongest = sim::Time::max().ps / 4;
        sim::Time of_use = candidate.bound;
        sim::Time beyond = of_use;
        do {
            if (beyond.ps > kLongest) {
                return sim::Time::max();
            }
            beyond = {2 * beyond.ps + 1};
        } while (!useless(beyond));
        while (beyond.ps - of_use.ps > 1) {
            const sim::Time middle{of_use.ps + (beyond.ps - of_use.ps) / 2};
            (useless(middle) ? beyond : of_use) = middle;
        }
        return of_use;
    }

    Trial simulate(std::size_t i, Watch* watch) {
        sim::Time longest;
        {
            const std::scoped_lock lock(mutex_);
            if (is_useless(facts(i), list_.candidates[i])) {
                return {.skipped = true};
            }
            longest = longest_of_use(i);
        }
        try {
            const StepResult result =
                simulate_step(space_.scenario(facts(i), list_.candidates[i]), Fold::automatic,
                              {.explain = false, .watch = watch, .longest = longest});
            return {.step_time = result.step_time, .peak = result.memory.peak.value()};
        } catch (const TakesLonger& longer) {
            return {.step_time = longer.at_least()};
        } catch (const sim::InputError& error) {
            return {.refused = reason_of(error)};
        } catch (const sim::TimeOverflow&) {
            return {.refused = std::string(kBeyondTheClock), .step_time = sim::Time::max()};
        } catch (const Stopped&) {
            return {.stopped = true};
        }
    }

    /// In the order of the candidates. What was begun before the proof was there, and is now proven useless, is not counted as simulated;
    /// nor is what its own run proves useless, whether the run was ended for it or not.
    void take(std::size_t i, const Trial& trial) {
        const std::scoped_lock lock(mutex_);
        ended_ = ended_ || trial.stopped;
        if (ended_) {
            return;
        }
        taken_[i] = true;
        Candidate candidate = list_.candidates[i];
        if (trial.skipped || is_useless(facts(i), candidate)) {
            ++result_.pruned;
            return;
        }
        candidate.bound = std::max(candidate.bound, trial.step_time);
        if (is_useless(facts(i), candidate)) {
            ++result_.pruned;
            ++result_.pruned_while_simulated;
            return;
        }
        if (!trial.refused.empty()) {
            ++result_.refused[trial.refused];
            return;
        }
        if (!is_wanted(spec_, facts(i), trial.step_time)) {
            ++result_.pruned;
            return;
        }
        if (trial.peak > facts(i).capacity * (1 - spec_.asked.memory_margin)) {
            ++result_.unfit;
            return;
        }
        ++result_.simulated;
        tightness_ += list_.candidates[i].bound.seconds() / trial.step_time.seconds();
        add(i, trial);
    }

    void add(std::size_t i, const Trial& trial) {
        const std::uint64_t place = place_of(facts(i), list_.candidates[i]);
        const FoundPlan found{list_.candidates[i], facts(i), trial.step_time, trial.peak, place};
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
        look_at_the_rest();
    }

    /// What was not tried, or not even outlined.
    void look_at_the_rest() {
        std::optional<Score> least;
        const auto is_left = [&](const Score& score) {
            least = least ? std::min(*least, score) : score;
        };
        for (std::size_t i = 0; i < list_.candidates.size(); ++i) {
            if (!taken_[i]) {
                is_left(bound_score(i));
            }
        }
        for (std::size_t i = next_rough_; i < list_.rough.size(); ++i) {
            const RoughGroup& group = list_.rough[i];
            is_left(score_of(spec_.asked.objective, group.facts, group.bound, 0));
        }
        result_.complete = !least;
        if (least && !best_.empty()) {
            result_.gap =
                std::max(0.0, times_as_bad(spec_.asked.objective, best_.front().first, *least) - 1);
        } else if (least) {
            result_.gap = std::numeric_limits<double>::infinity();
        }
    }

    const SearchSpace& space_;
    const SearchSpec& spec_;
    const SearchOptions& options_;
    const Bounding bounding_;
    CandidateList list_;
    std::vector<bool> taken_;     ///< by candidate: it was tried
    std::size_t next_rough_ = 0;  ///< the first group that is neither outlined nor proven useless
    std::mutex mutex_;
    std::vector<std::pair<Score, FoundPlan>> best_;  ///< at most kMostNear, the best first
    std::vector<std::pair<Point, FoundPlan>> front_;
    SearchResult result_;
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
