#include "scenarios/src/search/answers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace podsim::scenarios {
namespace {

constexpr double kPercent = 100;

/// The front counts memory in steps of this fraction of the capacity.
constexpr double kMemoryStep = 0.05;

int steps_of(double bytes, double capacity) {
    return static_cast<int>(std::ceil(bytes / (kMemoryStep * capacity)));
}

}  // namespace

int FoundPlan::percent_of_memory() const {
    return static_cast<int>(std::lround(kPercent * peak / facts.capacity));
}

Score score_of(SearchObjective objective, const PlanFacts& facts, sim::Time time,
               std::uint64_t place, bool tight) {
    switch (objective) {
        case SearchObjective::step_time:
            return {0, time.ps, tight, place};
        case SearchObjective::mfu:
            return {time.seconds() * facts.peak_flops / facts.flops, time.ps, tight, place};
        case SearchObjective::cost:
            return {facts.usd_per_second.value_or(0) * time.seconds() /
                        static_cast<double>(facts.tokens),
                    time.ps, tight, place};
        case SearchObjective::chips:
            return {static_cast<double>(facts.chips), time.ps, tight, place};
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

bool Answers::Point::beats(const Point& other) const {
    if (tokens != other.tokens || ps > other.ps || memory > other.memory || chips > other.chips ||
        usd > other.usd || score > other.score) {
        return false;
    }
    return ps < other.ps || memory < other.memory || chips < other.chips || usd < other.usd ||
           score < other.score || place < other.place;
}

Answers::Point Answers::point_of(const PlanFacts& facts, sim::Time time, double peak,
                                 std::uint64_t place) const {
    return {time.ps,
            steps_of(peak, facts.capacity),
            facts.chips,
            facts.tokens,
            facts.usd_per_second ? *facts.usd_per_second * time.seconds() : 0,
            score_of(spec_.asked.objective, facts, time, place).first,
            place};
}

bool Answers::is_useless(const PlanFacts& facts, const Candidate& candidate) const {
    if (!is_wanted(spec_, facts, candidate.bound)) {
        return true;
    }
    const std::uint64_t place = place_of(facts, candidate);
    // The plan is tight for sure if its lower bound of memory is; otherwise it may be better than
    // that.
    const Score score = score_of(spec_.asked.objective, facts, candidate.bound, place,
                                 is_tight(facts.least_peak, facts.capacity));
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
    const Point point = point_of(facts, candidate.bound, facts.least_peak, place);
    return std::ranges::any_of(front_, [&](const auto& one) { return one.first.beats(point); });
}

sim::Time Answers::longest_of_use(const PlanFacts& facts, Candidate candidate) const {
    const auto useless = [&](sim::Time time) {
        candidate.bound = time;
        return is_useless(facts, candidate);
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

void Answers::add_to_best(const FoundPlan& found) {
    const Score score =
        score_of(spec_.asked.objective, found.facts, found.step_time, found.place, found.tight());
    best_.insert(
        std::ranges::upper_bound(best_, score, {}, [](const auto& one) { return one.first; }),
        {score, found});
    if (best_.size() > kMostNear) {
        best_.pop_back();
    }
}

void Answers::add(const FoundPlan& found) {
    add_to_best(found);
    const Point point = point_of(found.facts, found.step_time, found.peak, found.place);
    if (std::ranges::any_of(front_, [&](const auto& one) { return one.first.beats(point); })) {
        return;
    }
    std::erase_if(front_, [&](const auto& one) { return point.beats(one.first); });
    front_.emplace_back(point, found);
}

std::vector<FoundPlan> Answers::best() const {
    std::vector<FoundPlan> plans;
    for (std::size_t i = 0; i < std::min(kBest, best_.size()); ++i) {
        plans.push_back(best_[i].second);
    }
    return plans;
}

std::vector<FoundPlan> Answers::near() const {
    std::vector<FoundPlan> plans;
    for (const auto& [score, found] : best_) {
        if (times_as_bad(spec_.asked.objective, score, best_score()) <= 1 + kNear) {
            plans.push_back(found);
        }
    }
    return plans;
}

std::vector<FoundPlan> Answers::front() const {
    std::vector<FoundPlan> plans;
    for (const auto& [point, found] : front_) {
        const Score score =
            score_of(spec_.asked.objective, found.facts, found.step_time, found.place);
        if (times_as_bad(spec_.asked.objective, score, best_score()) <= 1 + kFrontEnds) {
            plans.push_back(found);
        }
    }
    std::ranges::sort(plans, {},
                      [](const FoundPlan& plan) { return std::pair(plan.step_time, plan.place); });
    return plans;
}

}  // namespace podsim::scenarios
