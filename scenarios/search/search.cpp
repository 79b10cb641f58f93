#include "scenarios/search/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "scenarios/search/plan_work.h"
#include "scenarios/space/candidates.h"
#include "scenarios/study/thread_crew.h"
#include "scenarios/suggest/suggestions.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// So many of the most likely are tried before all others.
constexpr std::size_t kLookedAtFirst = 32;
/// A run may take a hundred times as long as those behind it, most of which are skipped.
constexpr std::size_t kWaitingPerThread = 256;
/// Plans of collective matmuls are outlined so many groups at a time.
constexpr std::size_t kRefinedAtOnce = 256;

/// So often a shard looks what others have found.
constexpr std::chrono::seconds kBetweenLooks{1};

/// Spread over the shards whatever is beside each other.
bool is_of(const SweepShard& shard, std::uint64_t place) {
    // The finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
    place = (place ^ place >> 30U) * 0xbf58476d1ce4e5b9;
    place = (place ^ place >> 27U) * 0x94d049bb133111eb;
    return (place ^ place >> 31U) % shard.of == shard.number;
}

class Search {
public:
    Search(const SearchSpace& space, const SearchOptions& options)
        : space_(space),
          spec_(space.spec()),
          options_(options),
          work_(space, options.watch),
          threads_(options.jobs, [this](const std::string& piece) { return work_.work(piece); }),
          crew_(options.crew != nullptr ? *options.crew : threads_),
          answers_(spec_) {}

    SearchResult run() {
        bound_all();
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
    void bound_all() {
        const std::size_t classes = Bounding(space_).classes();
        list_ = bounded(classes, [](std::size_t i) { return PlanWork::to_bound(i); });
        std::ranges::stable_sort(list_.rough, {}, &RoughGroup::bound);
        taken_.resize(list_.candidates.size());
    }

    /// What so many pieces of bounding find.
    BoundedPlans bounded(std::size_t count, const Crew::Piece& piece) {
        BoundedPlans plans;
        crew_.run(
            0, count, piece,
            [&](std::size_t i, const std::string& result) {
                plans.add(PlanWork::bounded(result));
                tell(options_.watch, Phase::bounding,
                     static_cast<double>(i + 1) / static_cast<double>(count));
            },
            [] { return false; });
        return plans;
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
                comes_near(group.bound);
            } else {
                groups.push_back(group);
            }
        }
        const std::size_t before = list_.candidates.size();
        try {
            list_.add(bounded(groups.size(),
                              [&](std::size_t i) { return PlanWork::to_refine(groups[i]); }));
            taken_.resize(list_.candidates.size());
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
        std::map<std::size_t, Trial> known;  // of records, by turn
        crew_.run(
            0, order.size(), [&](std::size_t turn) { return piece(order[turn], turn, known); },
            [&](std::size_t turn, const std::string& result) {
                take(order[turn], turn, result, known);
                report(static_cast<double>(turn + 1) / static_cast<double>(order.size()));
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

    [[nodiscard]] std::uint64_t place(std::size_t i) const {
        return place_of(facts(i), list_.candidates[i]);
    }

    /// What there is to do of a candidate: nothing of one that is useless, known from a record, or another shard's.
    std::optional<std::string> piece(std::size_t i, std::size_t turn,
                                     std::map<std::size_t, Trial>& known) {
        const std::scoped_lock lock(mutex_);
        if (is_useless(facts(i), list_.candidates[i])) {
            return std::nullopt;
        }
        const sim::Time longest = options_.prunes
                                      ? answers_.longest_of_use(facts(i), list_.candidates[i])
                                      : sim::Time::max();
        const Trial* const found =
            options_.record != nullptr ? options_.record->find(place(i)) : nullptr;
        if (found != nullptr && (found->is_whole || found->step_time > longest)) {
            known[turn] = *found;
            return std::nullopt;
        }
        if (!is_of(options_.shard, place(i))) {
            return std::nullopt;
        }
        return PlanWork::to_try(facts(i), list_.candidates[i], longest);
    }

    /// In the order of the candidates. What was begun before the proof was there, and is now proven useless, is not counted as simulated;
    /// nor is what its own run proves useless, whether the run was ended for it or not.
    void take(std::size_t i, std::size_t turn, const std::string& result,
              std::map<std::size_t, Trial>& known) {
        const std::scoped_lock lock(mutex_);
        const Trial trial = result.empty() ? known[turn] : PlanWork::trial(result);
        known.erase(turn);
        ended_ = ended_ || trial.stopped;
        if (ended_) {
            return;
        }
        check_bound(i, trial);
        if (options_.record != nullptr && !result.empty()) {
            options_.record->add(place(i), space_.set(facts(i), list_.candidates[i]), trial);
        }
        if (options_.shard.of > 1) {
            look_at_others();
        }
        const bool useless = is_useless(facts(i), list_.candidates[i]);
        if (!useless && trial.step_time.ps == 0 && trial.refused.empty()) {
            return;
        }
        taken_[i] = true;
        if (useless) {
            ++result_.pruned;
            comes_near(list_.candidates[i].bound);
            return;
        }
        count(i, trial);
    }

    /// All that was proven of other plans would be in doubt.
    void check_bound(std::size_t i, const Trial& trial) const {
        const sim::Time bound = list_.candidates[i].bound;
        if (trial.is_whole && trial.refused.empty() && trial.step_time < bound) {
            throw std::logic_error(fmt::format(
                "search_bound, {} ps, is above the simulated step, {} ps, of the plan {}", bound.ps,
                trial.step_time.ps, options_text(space_.set(facts(i), list_.candidates[i]))));
        }
    }

    /// What came of a candidate that was not useless when its turn came.
    void count(std::size_t i, const Trial& trial) {
        Candidate candidate = list_.candidates[i];
        candidate.bound = std::max(candidate.bound, trial.step_time);
        if (is_useless(facts(i), candidate)) {
            ++result_.pruned;
            ++result_.pruned_while_simulated;
            comes_near(candidate.bound);
            return;
        }
        if (!trial.refused.empty()) {
            ++result_.refused[trial.refused];
            return;
        }
        if (!is_wanted(spec_, facts(i), trial.step_time)) {
            ++result_.pruned;
            comes_near(trial.step_time);
            return;
        }
        if (!fits(i, trial)) {
            ++result_.unfit;
            return;
        }
        ++result_.simulated;
        tightness_ += list_.candidates[i].bound.seconds() / trial.step_time.seconds();
        add_answer(i, trial);
    }

    void comes_near(sim::Time least) { result_.nearest = std::min(result_.nearest, least); }

    [[nodiscard]] bool fits(std::size_t i, const Trial& trial) const {
        return trial.peak <= facts(i).capacity * (1 - spec_.asked.memory_margin);
    }

    /// Once, though a shard may hear of it from another before its turn comes.
    void add_answer(std::size_t i, const Trial& trial) {
        if (answered_.insert(place(i)).second) {
            answers_.add({list_.candidates[i], facts(i), trial.step_time, trial.peak, place(i),
                          space_.kind(facts(i), list_.candidates[i])});
        }
    }

    /// Good plans of other shards prove the same useless here.
    void look_at_others() {
        const auto now = std::chrono::steady_clock::now();
        if (options_.record == nullptr || now < next_look_) {
            return;
        }
        next_look_ = now + kBetweenLooks;
        const std::vector<std::uint64_t> places = options_.record->read_others();
        const std::unordered_set<std::uint64_t> news(places.begin(), places.end());
        for (std::size_t i = 0; i < list_.candidates.size() && !news.empty(); ++i) {
            const Trial* const trial =
                news.contains(place(i)) ? options_.record->find(place(i)) : nullptr;
            if (trial != nullptr && trial->is_whole && trial->refused.empty() && fits(i, *trial) &&
                is_wanted(spec_, facts(i), trial->step_time)) {
                add_answer(i, *trial);
            }
        }
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
                ++(is_of(options_.shard, place(i)) ? result_.not_looked_at
                                                   : result_.left_to_others);
            }
        }
        for (std::size_t i = next_rough_; i < list_.rough.size(); ++i) {
            const RoughGroup& group = list_.rough[i];
            is_left(score_of(spec_.asked.objective, group.facts, group.bound, 0));
            result_.not_looked_at += group.meshes.size();
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
    PlanWork work_;
    ThreadCrew threads_;
    Crew& crew_;
    BoundedPlans list_;
    std::vector<bool> taken_;     ///< by candidate: it was tried
    std::size_t next_rough_ = 0;  ///< the first group that is neither outlined nor proven useless
    std::mutex mutex_;
    Answers answers_;
    std::unordered_set<std::uint64_t> answered_;  ///< places of what is in the answers
    std::chrono::steady_clock::time_point next_look_{};
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
