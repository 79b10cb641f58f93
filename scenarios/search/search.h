// The best plans of a space, exactly: nothing outside it is guessed, nothing inside it is left out without a proof.
//
// The scenario's own plan is simulated first. Candidates are taken in the order of (what they are likely to take, place in the space), so that good ones come early, whenever the
// search is ended, and prove much of the rest useless. One is simulated unless its bound proves that it can enter none of the answers:
// neither the ten best, nor those near the best that are looked at again under other rates, nor the Pareto front. A run is ended when its own
// clock, and what is still to compute, proves the same. Proofs go by what was simulated before in that order, so that the answers, and
// what is counted, are the same for any number of threads: what threads have begun beyond is thrown away.
// The meshes of a machine are listed when its turn comes. Where the space has more plans than are held at once, the likeliest of those that are
// bounded are tried before further ones are bounded, and what they prove useless is forgotten.
// Plans of collective matmuls are outlined only where a weaker bound does not prove them useless by the most likely of the others.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/ranks/crew.h"
#include "scenarios/search/answers.h"
#include "scenarios/search/trial_record.h"
#include "scenarios/space/search_space.h"
#include "scenarios/space/setting_bounds.h"
#include "scenarios/study/sweep_shard.h"
#include "scenarios/watch/watch.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// The scenario's own plan, which is simulated before all others.
struct ThisPlan {
    std::string refused{};  ///< why it cannot be run; then nothing else is known
    FoundPlan plan{};
    bool fits = false;
    bool in_space = false;                ///< else nobody asked for such a plan
    std::optional<std::size_t> number{};  ///< of the best, from 1, where it is among them
};

struct SearchResult {
    std::optional<ThisPlan>
        own{};  ///< none where the mesh is the search's to find, or it was stopped
    std::vector<FoundPlan> best;  ///< at most kBest, the best first
    std::vector<FoundPlan> near;  ///< within kNear of the best, at most kMostNear
    std::vector<FoundPlan>
        front;  ///< no other has a step no longer, memory no fuller, no more chips and no more dollars; as far as kFrontEnds from the best, by step time
    std::uint64_t enumerated = 0;
    std::map<std::string, std::uint64_t> refused;  ///< by the reason
    std::uint64_t unfit =
        0;  ///< their least memory is too much, or what they need when they are simulated
    std::vector<Miss> misses{};                ///< of these the nearest
    std::uint64_t pruned = 0;                  ///< proven to enter no answer
    std::uint64_t pruned_while_simulated = 0;  ///< of these by the clock of their own run
    std::uint64_t simulated = 0;               ///< and fit
    std::uint64_t left_to_others = 0;  ///< of other shards, and not proven useless by this one
    std::uint64_t not_looked_at = 0;   ///< of a search that was ended early
    std::uint64_t likely_not_looked_at =
        0;  ///< of these those that would be answers if they took what is likely
    std::uint64_t not_outlined = 0;  ///< of these those of which a rough bound alone is known
    /// Of these those that are not bounded. Where it is not even known how many FLOPs their steps have, there is no gap.
    std::uint64_t not_bounded = 0;
    std::uint64_t not_listed =
        0;  ///< at most, on machines whose meshes were not listed; not in `enumerated`
    /// Of what misses a deadline or a budget, the least of what is asked, as far as is known.
    std::optional<sim::Time> shortest;
    std::optional<double> cheapest_usd;
    bool complete = true;
    double gap =
        0;  ///< of a search that was ended early: how much better than the best another may be, at the most
    double tightness = 0;  ///< mean of bound / step time of what was simulated

    [[nodiscard]] std::uint64_t refused_in_all() const;
};

struct SearchOptions {
    int jobs = 1;
    Crew* crew = nullptr;  ///< who does a PlanWork of the space; so many threads without one
    /// What was simulated before is not simulated again, and what is is added.
    TrialRecord* record = nullptr;
    /// Only its candidates are simulated. It takes up what others add to their records, so that they share what they have found.
    SweepShard shard{};
    bool prunes = true;  ///< off: everything that can run is simulated
    Watch* watch = nullptr;
    /// Asked between simulations; then what was found until then is the result.
    std::function<bool()> stop = [] { return false; };
    /// Asked between plans that are bounded, once there is one to try, from several threads; then what is bounded is tried.
    std::function<bool()> stop_bounding = [] { return false; };
    /// Of more plans that are bounded the likeliest are tried and the useless forgotten before further ones are bounded.
    std::size_t most_held = 2'000'000;
};

/// Throws std::logic_error where a simulated step is below its bound (a defect).
SearchResult search(const SearchSpace& space, const SearchOptions& options);

}  // namespace podsim::scenarios
