// Bounds the plans of a search's space, machine by machine. The meshes of a machine are listed when
// the search reaches it. Plans are bounded in rounds if there are more of them than are held at
// once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/crew.h"
#include "scenarios/src/search/candidates.h"
#include "scenarios/src/search/plan_facts.h"
#include "scenarios/src/search/search.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/search/search_tally.h"

namespace podsim::scenarios {

// A lower bound of every plan of a space, whatever its mesh, for the plans that a search has not
// reached.

/// Learns from the plans that are bounded. Remat, look-ahead, overlap, schedule, microbatches and
/// the slice leave the FLOPs of a step as they are. One plan is therefore enough to know least_time
/// for all settings that differ only in these.
class SpaceFloor {
public:
    explicit SpaceFloor(const SearchSpace& space);

    void add(const PlanFacts& facts);
    /// Returns one entry for every kind of setting and number of chips, none unless a plan of each
    /// kind is known. No plan of the space is better than the best of them would be if it took its
    /// least_time.
    [[nodiscard]] std::optional<std::vector<PlanFacts>> facts() const;

private:
    const SearchSpace& space_;
    /// Number of values by key; 1 for a key that changes nothing here.
    std::vector<std::size_t> values_;
    std::map<std::vector<std::size_t>, PlanFacts> known_;  ///< by the values of the other keys
};

class BoundingRounds {
public:
    /// `try_likely` tries the likeliest candidates of the tally from an index on. It is called
    /// between rounds.
    BoundingRounds(const SearchSpace& space, const SearchOptions& options, SearchTally& tally,
                   std::function<void(std::size_t)> try_likely)
        : options_(options),
          tally_(tally),
          try_likely_(std::move(try_likely)),
          floor_(space),
          most_held_(options.most_held) {}

    /// Adds the bounded plans to the tally.
    void run(const Bounding& bounding, Crew& crew);

    /// True if there is something to try. Callable from any thread.
    [[nodiscard]] bool has_bounded() const { return has_bounded_; }
    [[nodiscard]] bool is_asked_to_stop() const;
    /// Returns the exception that ended the bounding, if a watch ended it.
    [[nodiscard]] std::exception_ptr stopped() const { return stopped_; }
    void add_floor(const PlanFacts& facts) { floor_.add(facts); }
    [[nodiscard]] SearchTally::Unseen unseen() const {
        return {not_bounded_, not_listed_, floor_.facts()};
    }

private:
    [[nodiscard]] bool stops() const;
    std::size_t take(BoundedPlans& plans, const std::string& result, const Bounding& bounding,
                     std::size_t machine, std::size_t piece);
    void bound(std::size_t machine, const Bounding& bounding, Crew& crew);

    const SearchOptions& options_;
    SearchTally& tally_;
    const std::function<void(std::size_t)> try_likely_;
    SpaceFloor floor_;
    std::size_t most_held_;
    std::uint64_t not_bounded_ = 0;
    std::uint64_t not_listed_ = 0;
    std::exception_ptr stopped_;
    std::atomic<bool> has_bounded_ = false;
};

}  // namespace podsim::scenarios
