// What every plan of a space takes at least, whatever its mesh: a bound of those that a search has not come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "scenarios/space/plan_facts.h"
#include "scenarios/space/search_space.h"

namespace podsim::scenarios {

/// Learns from the plans that are bounded. Remat, look-ahead, overlap, schedule and microbatches leave the FLOPs of a step as they are, and so
/// does the slice: of all settings that have these alone apart one plan is enough to know least_time.
class SpaceFloor {
public:
    explicit SpaceFloor(const SearchSpace& space);

    void add(const PlanFacts& facts);
    /// One for every kind of setting and number of chips, none unless a plan of each kind is known. No plan of the space is better than
    /// the best of them would be if it took its least_time.
    [[nodiscard]] std::optional<std::vector<PlanFacts>> facts() const;

private:
    const SearchSpace& space_;
    std::vector<std::size_t> values_;  ///< by key, how many; 1 of a key that changes nothing here
    std::map<std::vector<std::size_t>, PlanFacts> known_;  ///< by the values of the other keys
};

}  // namespace podsim::scenarios
