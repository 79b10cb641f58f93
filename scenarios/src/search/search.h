// Finds the best plans of a space, exactly: it guesses nothing outside the space, and leaves out
// nothing inside it without a proof.
//
// The scenario's own plan is simulated first. Candidates follow in the order of (expected time,
// index in the space). Good ones thus come early, whenever the search is ended, and prove much of
// the rest useless. A candidate is simulated unless its bound proves that it can enter none of the
// answers: the ten best, those near the best that are simulated again under other rates, and the
// Pareto front. A run is ended when its own clock and its remaining work prove the same. Proofs use
// only what was simulated before in that order. The answers and the counts are therefore the same
// for any number of threads; results that threads have begun beyond are discarded.
//
// The meshes of a machine are listed when the search reaches it. If the space has more plans than
// are held at once, the likeliest bounded ones are tried before further ones are bounded, and those
// that they prove useless are dropped.
//
// Plans of collective matmuls are outlined only if a weaker bound does not prove them useless by
// the most likely of the others.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/src/base/crew.h"
#include "scenarios/src/base/watch.h"
#include "scenarios/src/search/answers.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/search/setting_bounds.h"
#include "scenarios/src/search/trial_record.h"
#include "scenarios/src/study/sweep_record.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// The scenario's own plan, which is simulated before all others.
struct ThisPlan {
    /// Reason why it cannot be run; then nothing else is known.
    std::string refused{};
    FoundPlan plan{};
    bool fits = false;
    bool in_space = false;  ///< false: nobody asked for this plan
    /// Rank among the best, from 1, if it is among them.
    std::optional<std::size_t> number{};
};

struct SearchResult {
    /// None if the search is to find the mesh, or was stopped.
    std::optional<ThisPlan> own{};
    std::vector<FoundPlan> best;  ///< at most kBest, the best first
    std::vector<FoundPlan> near;  ///< within kNear of the best, at most kMostNear
    /// Plans for which no other has a step no longer, memory no fuller, no more chips and no more
    /// dollars. The front extends to kFrontEnds from the best and is sorted by step time.
    std::vector<FoundPlan> front;
    std::uint64_t enumerated = 0;
    std::map<std::string, std::uint64_t> refused;  ///< by reason
    /// Plans whose lower bound of memory, or whose memory when they are simulated, is too much.
    std::uint64_t unfit = 0;
    std::vector<Miss> misses{};  ///< the nearest of the unfit plans
    std::uint64_t pruned = 0;    ///< proven to enter no answer
    /// Those of `pruned` that the clock of their own run proved.
    std::uint64_t pruned_while_simulated = 0;
    std::uint64_t simulated = 0;  ///< simulated and fit
    /// Plans of other shards that this one has not proven useless.
    std::uint64_t left_to_others = 0;
    /// Plans that remain if a search was ended early.
    std::uint64_t not_looked_at = 0;
    /// Those of `not_looked_at` that would be answers if they took their expected time.
    std::uint64_t likely_not_looked_at = 0;
    /// Those of `not_looked_at` for which only a rough bound is known.
    std::uint64_t not_outlined = 0;
    /// Those of `not_looked_at` that are not bounded. If not even the FLOPs of their steps are
    /// known, there is no gap.
    std::uint64_t not_bounded = 0;
    /// Upper bound of the plans on machines whose meshes were not listed; not in `enumerated`.
    std::uint64_t not_listed = 0;
    /// The least step time and cost, as far as known, of the plans that miss a deadline or a
    /// budget.
    std::optional<sim::Time> shortest;
    std::optional<double> cheapest_usd;
    bool complete = true;
    /// For a search that was ended early: by how much another plan may at most be better than the
    /// best.
    double gap = 0;
    /// Mean of bound / step time over the simulated plans.
    double tightness = 0;

    [[nodiscard]] std::uint64_t refused_in_all() const;
};

struct SearchOptions {
    int jobs = 1;
    /// Crew that does a PlanWork of the space; without one, `jobs` threads do it.
    Crew* crew = nullptr;
    /// Candidates in the record are not simulated again; the others are added to it.
    TrialRecord* record = nullptr;
    /// Only candidates of this shard are simulated. It reads what others add to their records, so
    /// that all shards use each other's results.
    SweepShard shard{};
    bool prunes = true;  ///< false: everything that can run is simulated
    Watch* watch = nullptr;
    /// Called between simulations. If it returns true, the plans found so far are the result.
    std::function<bool()> stop = [] { return false; };
    /// Called between bounded plans, from several threads, once there is one to try. If it returns
    /// true, the bounded plans are tried.
    std::function<bool()> stop_bounding = [] { return false; };
    /// If more plans are bounded, the likeliest are tried and the useless dropped before further
    /// ones are bounded.
    std::size_t most_held = 2'000'000;
};

/// Runs the search. Throws std::logic_error if a simulated step is below its bound (a defect).
SearchResult search(const SearchSpace& space, const SearchOptions& options);

}  // namespace podsim::scenarios
