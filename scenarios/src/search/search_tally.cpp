#include "scenarios/src/search/search_tally.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "scenarios/src/advise/suggestions.h"
#include "scenarios/src/search/memory_fit.h"
#include "sim/base/error.h"

namespace podsim::scenarios {

SearchTally::SearchTally(const SearchSpace& space, bool prunes)
    : space_(space), spec_(space.spec()), prunes_(prunes), answers_(spec_) {}

void SearchTally::add(BoundedPlans plans) {
    const bool has_groups = !plans.rough.empty();
    list_.add(std::move(plans));
    if (has_groups) {
        std::ranges::stable_sort(list_.rough, {}, &RoughGroup::bound);
    }
    taken_.resize(list_.candidates.size());
}

Score SearchTally::likely_score(std::size_t i) const {
    return score_of(spec_.asked.objective, facts(i), candidate(i).likely, place(i));
}

Score SearchTally::bound_score(std::size_t i) const {
    return score_of(spec_.asked.objective, facts(i), candidate(i).bound, place(i));
}

bool SearchTally::is_likely(std::size_t i) const {
    Candidate as_is_likely = candidate(i);
    as_is_likely.bound = as_is_likely.likely;
    return !is_useless(facts(i), as_is_likely);
}

sim::Time SearchTally::longest_of_use(std::size_t i) const {
    return prunes_ ? answers_.longest_of_use(facts(i), candidate(i)) : sim::Time::max();
}

SearchTally::NextGroups SearchTally::next_groups(std::size_t most) const {
    NextGroups next{.groups = {}, .useless = {}, .end = next_rough_};
    for (; next.end < list_.rough.size() && next.groups.size() < most; ++next.end) {
        const RoughGroup& group = list_.rough[next.end];
        (is_useless(group) ? next.useless : next.groups).push_back(group);
    }
    return next;
}

void SearchTally::pass(const NextGroups& next) {
    for (const RoughGroup& group : next.useless) {
        prove(group.meshes.size(), group.facts, group.bound);
    }
    next_rough_ = next.end;
}

/// True if the best of its plans is useless.
bool SearchTally::is_useless(const RoughGroup& group) const {
    return is_useless(group.facts, {.bound = group.bound, .mesh = group.meshes.front()});
}

void SearchTally::prove(std::uint64_t plans, const PlanFacts& facts, sim::Time bound) {
    result_.pruned += plans;
    comes_near(facts, bound);
}

void SearchTally::thin_out() {
    constexpr auto kNoPlan = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> numbers(list_.facts.size(), kNoPlan);
    std::vector<PlanFacts> kept_facts;
    std::vector<Candidate> kept;
    for (std::size_t i = 0; i < size(); ++i) {
        if (taken_[i] || is_useless(i)) {
            if (!taken_[i]) {
                prove(1, facts(i), candidate(i).bound);
            }
            continue;
        }
        Candidate& one = kept.emplace_back(candidate(i));
        std::uint32_t& number = numbers[one.facts];
        if (number == kNoPlan) {
            number = static_cast<std::uint32_t>(kept_facts.size());
            kept_facts.push_back(list_.facts[one.facts]);
        }
        one.facts = number;
    }
    std::unordered_set<std::uint32_t> missed;
    for (const std::uint32_t one : missed_) {
        if (numbers[one] != kNoPlan) {
            missed.insert(numbers[one]);
        }
    }
    missed_ = std::move(missed);
    list_.facts = std::move(kept_facts);
    list_.candidates = std::move(kept);
    taken_.assign(list_.candidates.size(), false);
    std::erase_if(list_.rough, [&](const RoughGroup& group) {
        const bool useless = is_useless(group);
        if (useless) {
            prove(group.meshes.size(), group.facts, group.bound);
        }
        return useless;
    });
}

void SearchTally::take(std::size_t i, const CandidateRun& trial) {
    const bool useless = is_useless(i);
    if (!useless && trial.step_time.ps == 0 && trial.refused.empty()) {
        return;
    }
    taken_[i] = true;
    if (useless) {
        prove(1, facts(i), candidate(i).bound);
        return;
    }
    count(i, trial);
}

/// A step below its bound would cast doubt on everything that was proven about other plans.
void SearchTally::check_bound(std::size_t i, const CandidateRun& trial, bool recorded) const {
    const sim::Time bound = candidate(i).bound;
    if (trial.is_whole && trial.refused.empty() && trial.step_time < bound) {
        if (recorded) {
            throw sim::InputError(
                fmt::format(
                    "a record of this search says {} ps of the plan {}, whose bound is {} ps",
                    trial.step_time.ps, options_text(space_.set(facts(i), candidate(i))), bound.ps),
                "it is damaged, or of another version: begin anew");
        }
        throw std::logic_error(fmt::format(
            "search_bound, {} ps, is above the simulated step, {} ps, of the plan {}", bound.ps,
            trial.step_time.ps, options_text(space_.set(facts(i), candidate(i)))));
    }
}

/// Counts a candidate that was not useless when it was taken.
void SearchTally::count(std::size_t i, const CandidateRun& trial) {
    Candidate longer = candidate(i);
    longer.bound = std::max(longer.bound, trial.step_time);
    if (is_useless(facts(i), longer)) {
        ++result_.pruned;
        ++result_.pruned_while_simulated;
        comes_near(facts(i), longer.bound);
        return;
    }
    if (!trial.refused.empty()) {
        ++result_.refused[trial.refused];
        return;
    }
    if (!is_wanted(spec_, facts(i), trial.step_time)) {
        ++result_.pruned;
        comes_near(facts(i), trial.step_time);
        return;
    }
    if (!fits(i, trial)) {
        ++result_.unfit;
        if (missed_.insert(candidate(i).facts).second) {
            result_.misses.push_back({facts(i), candidate(i).mesh});
            result_.misses.back().facts.least_peak = trial.peak;
        }
        return;
    }
    ++result_.simulated;
    tightness_ += candidate(i).bound.seconds() / trial.step_time.seconds();
    add_answer(i, trial);
}

void SearchTally::comes_near(const PlanFacts& facts, sim::Time least) {
    if (spec_.asked.deadline_s) {
        result_.shortest = std::min(result_.shortest.value_or(least), least);
    }
    if (spec_.asked.budget_usd) {
        const double usd = facts.run_usd(least);
        result_.cheapest_usd = std::min(result_.cheapest_usd.value_or(usd), usd);
    }
}

bool SearchTally::fits(std::size_t i, const CandidateRun& trial) const {
    return may_fit(spec_.asked, trial.peak, facts(i).capacity);
}

/// Adds an answer once, even if a shard learns of it from another before it takes it.
void SearchTally::add_answer(std::size_t i, const CandidateRun& trial) {
    if (answered_.insert(place(i)).second) {
        answers_.add({candidate(i), facts(i), trial.step_time, trial.peak, place(i)});
    }
}

void SearchTally::hear(std::size_t i, const CandidateRun& trial) {
    if (trial.is_whole && trial.refused.empty() && fits(i, trial) &&
        is_wanted(spec_, facts(i), trial.step_time)) {
        add_answer(i, trial);
    }
}

void SearchTally::hear_own(const PlanFacts& facts, const Candidate& candidate,
                           const CandidateRun& trial) {
    const std::uint64_t place = place_of(facts, candidate);
    if (trial.is_whole && trial.refused.empty() &&
        may_fit(spec_.asked, trial.peak, facts.capacity) &&
        is_wanted(spec_, facts, trial.step_time) && answered_.insert(place).second) {
        answers_.add({candidate, facts, trial.step_time, trial.peak, place});
    }
}

/// Counts the plans that were not tried, or not even outlined; returns the least score that they
/// may have.
std::optional<Score> SearchTally::count_the_rest(const std::function<bool(std::size_t)>& is_own) {
    std::optional<Score> least;
    const auto is_left = [&](const Score& score) {
        least = least ? std::min(*least, score) : score;
    };
    for (std::size_t i = 0; i < size(); ++i) {
        if (!taken_[i] && is_own(i) && is_useless(i)) {
            prove(1, facts(i), candidate(i).bound);
        } else if (!taken_[i]) {
            is_left(bound_score(i));
            ++(is_own(i) ? result_.not_looked_at : result_.left_to_others);
            result_.likely_not_looked_at += is_own(i) && is_likely(i) ? 1 : 0;
        }
    }
    for (std::size_t i = next_rough_; i < list_.rough.size(); ++i) {
        const RoughGroup& group = list_.rough[i];
        if (is_useless(group)) {
            prove(group.meshes.size(), group.facts, group.bound);
            continue;
        }
        is_left(score_of(spec_.asked.objective, group.facts, group.bound, 0));
        result_.not_looked_at += group.meshes.size();
        result_.not_outlined += group.meshes.size();
    }
    return least;
}

void SearchTally::count_the_unseen(std::optional<Score> least, const Unseen& unseen) {
    result_.not_bounded = unseen.plans;
    result_.not_listed = unseen.not_listed;
    result_.not_looked_at += unseen.plans;
    const bool is_any_unseen = unseen.plans + unseen.not_listed > 0;
    if (is_any_unseen && unseen.floor) {
        for (const PlanFacts& facts : *unseen.floor) {
            const Score score = score_of(spec_.asked.objective, facts, least_time(facts), 0);
            least = least ? std::min(*least, score) : score;
        }
    }
    result_.complete = !least && !is_any_unseen;
    if (result_.complete) {
        return;
    }
    result_.gap =
        (is_any_unseen && !unseen.floor) || answers_.empty()
            ? std::numeric_limits<double>::infinity()
            : std::max(0.0, times_as_bad(spec_.asked.objective, answers_.best_score(), *least) - 1);
}

SearchResult SearchTally::result(const std::function<bool(std::size_t)>& is_own,
                                 const Unseen& unseen) && {
    result_.enumerated = list_.enumerated + unseen.plans;
    result_.unfit += list_.unfit;
    for (const auto& [reason, times] : list_.refused) {
        result_.refused[reason] += times;
    }
    std::ranges::move(list_.misses, std::back_inserter(result_.misses));
    keep_nearest(result_.misses);
    result_.best = answers_.best();
    result_.near = answers_.near();
    result_.front = answers_.front();
    if (result_.simulated > 0) {
        result_.tightness = tightness_ / static_cast<double>(result_.simulated);
    }
    count_the_unseen(count_the_rest(is_own), unseen);
    return std::move(result_);
}

}  // namespace podsim::scenarios
