#include "scenarios/search/search.h"

#include <algorithm>
#include <cmath>
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

/// So many of the most likely are tried before all others.
constexpr std::size_t kLookedAtFirst = 32;
/// A run may take a hundred times as long as those behind it, most of which are skipped.
constexpr std::size_t kWaitingPerThread = 256;
/// Plans of collective matmuls are outlined so many groups at a time.
constexpr std::size_t kRefinedAtOnce = 256;

/// What a simulation of a candidate came to.
struct Trial {
    bool skipped = false;  ///< it was proven useless before it was begun
    bool stopped = false;  ///< it was ended by a wish from outside
    std::string refused{};
    /// At its end; of a run that was ended because nothing came of it any more, what the step surely takes.
    sim::Time step_time{};
    double peak = 0;
};

class Search {
public:
    Search(const SearchSpace& space, const SearchOptions& options)
        : space_(space),
          spec_(space.spec()),
          options_(options),
          bounding_(space, options.jobs, options.watch),
          answers_(spec_) {}

    SearchResult run() {
        add(bounding_.all());
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
        std::ranges::sort(rest, {}, [&](std::size_t i) { return likely_score(i); });
        try_all(rest);
        result_.enumerated = list_.enumerated;
        result_.unfit += list_.unfit;
        for (const auto& [reason, times] : list_.refused) {
            result_.refused[reason] += times;
        }
        result_.best = answers_.best();
        result_.near = answers_.near();
        result_.front = answers_.front();
        if (result_.simulated > 0) {
            result_.tightness = tightness_ / static_cast<double>(result_.simulated);
        }
        look_at_the_rest();
        return std::move(result_);
    }

private:
    /// What has been bounded counts, and can be tried.
    void add(BoundedPlans more) {
        list_.add(std::move(more));
        taken_.resize(list_.candidates.size());
    }

    /// Good plans prove much of the rest useless: of the candidates from `first` on, those that are likely to be good.
    void look_where_it_is_likely(std::size_t first) {
        std::vector<std::size_t> likely;
        for (std::size_t i = first; i < list_.candidates.size(); ++i) {
            likely.push_back(i);
        }
        const std::size_t count = std::min(kLookedAtFirst, likely.size());
        std::ranges::partial_sort(likely, likely.begin() + static_cast<std::ptrdiff_t>(count), {},
                                  [&](std::size_t i) { return likely_score(i); });
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
    [[nodiscard]] Score likely_score(std::size_t i) const {
        const Candidate& candidate = list_.candidates[i];
        return score_of(spec_.asked.objective, facts(i), candidate.likely,
                        place_of(facts(i), candidate));
    }
    [[nodiscard]] Score bound_score(std::size_t i) const {
        const Candidate& candidate = list_.candidates[i];
        return score_of(spec_.asked.objective, facts(i), candidate.bound,
                        place_of(facts(i), candidate));
    }

    [[nodiscard]] bool is_useless(const PlanFacts& facts, const Candidate& candidate) const {
        return options_.prunes && answers_.is_useless(facts, candidate);
    }

    Trial simulate(std::size_t i, Watch* watch) {
        sim::Time longest = sim::Time::max();
        {
            const std::scoped_lock lock(mutex_);
            if (is_useless(facts(i), list_.candidates[i])) {
                return {.skipped = true};
            }
            if (options_.prunes) {
                longest = answers_.longest_of_use(facts(i), list_.candidates[i]);
            }
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
        answers_.add({list_.candidates[i], facts(i), trial.step_time, trial.peak,
                      place_of(facts(i), list_.candidates[i])});
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
        if (least && !answers_.empty()) {
            result_.gap = std::max(
                0.0, times_as_bad(spec_.asked.objective, answers_.best_score(), *least) - 1);
        } else if (least) {
            result_.gap = std::numeric_limits<double>::infinity();
        }
    }

    const SearchSpace& space_;
    const SearchSpec& spec_;
    const SearchOptions& options_;
    const Bounding bounding_;
    BoundedPlans list_;
    std::vector<bool> taken_;     ///< by candidate: it was tried
    std::size_t next_rough_ = 0;  ///< the first group that is neither outlined nor proven useless
    std::mutex mutex_;
    Answers answers_;
    SearchResult result_;
    bool ended_ = false;  ///< somebody has asked to stop
    double tightness_ = 0;
};

}  // namespace

std::uint64_t SearchResult::refused_in_all() const {
    std::uint64_t sum = 0;
    for (const auto& [reason, count] : refused) {
        sum += count;
    }
    return sum;
}

SearchResult search(const SearchSpace& space, const SearchOptions& options) {
    return Search(space, options).run();
}

}  // namespace podsim::scenarios
