#include "scenarios/search/bounding_rounds.h"

#include <algorithm>
#include <deque>

#include "scenarios/search/plan_work.h"

namespace podsim::scenarios {

bool BoundingRounds::is_asked_to_stop() const {
    if (options_.watch == nullptr) {
        return false;
    }
    options_.watch->look();
    return options_.watch->stop_token().stop_requested();
}

/// Within a piece this process's threads ask themselves.
bool BoundingRounds::stops() const {
    return stopped_ || (has_bounded_ && options_.stop_bounding()) || is_asked_to_stop();
}

void BoundingRounds::run(const Bounding& bounding, Crew& crew) {
    for (std::size_t machine = 0; machine < bounding.machines(); ++machine) {
        if (!bounding.list(machine, [&] { return stops(); })) {
            not_listed_ += bounding.most_plans(machine);
            continue;
        }
        not_bounded_ += bounding.plans(machine);
        bound(machine, bounding, crew);
    }
    if (!stopped_ && not_bounded_ + not_listed_ > 0 && is_asked_to_stop()) {
        stopped_ = std::make_exception_ptr(Stopped({.phase = Phase::bounding}));
    }
}

/// Returns how many plans of the piece are held.
std::size_t BoundingRounds::take(BoundedPlans& plans, const std::string& result,
                                 const Bounding& bounding, std::size_t machine, std::size_t piece) {
    BoundedPlans found = PlanWork::bounded(result);
    not_bounded_ -= bounding.plans(machine, piece);
    not_bounded_ += found.left;
    const std::size_t held = found.held();
    has_bounded_ = has_bounded_ || held > 0;
    for (const PlanFacts& facts : found.facts) {
        floor_.add(facts);
    }
    for (const RoughGroup& group : found.rough) {
        floor_.add(group.facts);
    }
    plans.add(std::move(found));
    const auto part =
        static_cast<double>(piece + 1) / static_cast<double>(bounding.pieces(machine));
    tell(options_.watch, Phase::bounding,
         (static_cast<double>(machine) + part) / static_cast<double>(bounding.machines()));
    return held;
}

/// A round ends where as much is held as may be. Results that threads have beyond it wait for the next, so that rounds are the same for any
/// number of threads.
void BoundingRounds::bound(std::size_t machine, const Bounding& bounding, Crew& crew) {
    std::deque<std::string> waiting;  // results, of the pieces from `next` on
    std::size_t next = 0;
    while (next < bounding.pieces(machine) && !stops()) {
        BoundedPlans plans;
        const std::size_t before = tally_.size();
        std::atomic<std::size_t> held = tally_.held();
        const auto is_full = [&] { return held > most_held_; };
        try {
            while (!waiting.empty() && !is_full()) {
                const std::string result = std::move(waiting.front());
                waiting.pop_front();
                held += take(plans, result, bounding, machine, next++);
            }
            crew.run(
                next + waiting.size(), bounding.pieces(machine),
                [&](std::size_t i) { return PlanWork::to_bound(machine, i); },
                [&](std::size_t /*piece*/, const std::string& result) {
                    if (is_full()) {
                        waiting.push_back(result);
                    } else {
                        held += take(plans, result, bounding, machine, next++);
                    }
                },
                [&] { return is_full() || stops(); }, Crew::kWaitingPerThread);
        } catch (const Stopped&) {
            stopped_ = std::current_exception();
        }
        tally_.add(std::move(plans));
        if (is_full() && !stopped_) {
            try_likely_(before);
            tally_.thin_out();
            most_held_ = std::max(most_held_, 2 * tally_.held());
        }
    }
}

}  // namespace podsim::scenarios
