#include "scenarios/src/search/bounding_rounds.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string_view>

#include "scenarios/src/search/plan_work.h"

namespace podsim::scenarios {
namespace {

bool leaves_flops(std::string_view key) {
    constexpr std::string_view kKeys[] = {"hardware.slice", "training.remat", "training.schedule",
                                          "training.microbatches"};
    return key.starts_with("overlap.") || std::ranges::find(kKeys, key) != std::end(kKeys);
}

PlanFacts with_chips(PlanFacts facts, int chips) {
    const double more = static_cast<double>(chips) / facts.chips;
    facts.chips = chips;
    facts.peak_flops *= more;
    if (facts.usd_per_second) {
        *facts.usd_per_second *= more;
    }
    return facts;
}

}  // namespace

SpaceFloor::SpaceFloor(const SearchSpace& space) : space_(space) {
    for (const Varied& varied : space.spec().varied) {
        values_.push_back(leaves_flops(varied.key) ? 1 : varied.values.size());
    }
}

void SpaceFloor::add(const PlanFacts& facts) {
    std::vector<std::size_t> kind = space_.choice(facts.setting);
    for (std::size_t key = 0; key < kind.size(); ++key) {
        kind[key] = values_[key] == 1 ? 0 : kind[key];
    }
    known_.try_emplace(std::move(kind), facts);
}

std::optional<std::vector<PlanFacts>> SpaceFloor::facts() const {
    std::size_t kinds = 1;
    for (const std::size_t values : values_) {
        kinds *= values;
    }
    if (known_.size() < kinds) {
        return std::nullopt;
    }
    std::set<int> chips;
    for (std::uint32_t setting = 0; setting < space_.settings(); ++setting) {
        if (const MeshSpace* const meshes = space_.meshes(setting)) {
            chips.insert(meshes->slice().size() * meshes->slices());
        }
    }
    std::vector<PlanFacts> all;
    for (const auto& [kind, facts] : known_) {
        for (const int number : chips) {
            all.push_back(with_chips(facts, number));
        }
    }
    return all;
}

bool BoundingRounds::is_asked_to_stop() const {
    if (options_.watch == nullptr) {
        return false;
    }
    options_.watch->look();
    return options_.watch->stop_token().stop_requested();
}

/// True if bounding has to end. The threads of this process ask it between plans, too.
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

/// A round ends when the search holds as many plans as it may. Results of threads that are further
/// wait for the next round, so that rounds are the same for any number of threads.
void BoundingRounds::bound(std::size_t machine, const Bounding& bounding, Crew& crew) {
    std::deque<std::string> waiting;  // results of the pieces from `next` on
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
