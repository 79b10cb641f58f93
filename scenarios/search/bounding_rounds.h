// How a search bounds its space: machine by machine, whose meshes are listed when their turn comes, in rounds where there are more plans
// than are held at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "scenarios/ranks/crew.h"
#include "scenarios/search/search.h"
#include "scenarios/search/search_tally.h"
#include "scenarios/space/candidates.h"
#include "scenarios/space/search_space.h"
#include "scenarios/space/space_floor.h"

namespace podsim::scenarios {

class BoundingRounds {
public:
    /// `try_likely` tries the likeliest candidates of the tally from an index on; asked between rounds.
    BoundingRounds(const SearchSpace& space, const SearchOptions& options, SearchTally& tally,
                   std::function<void(std::size_t)> try_likely)
        : options_(options),
          tally_(tally),
          try_likely_(std::move(try_likely)),
          floor_(space),
          most_held_(options.most_held) {}

    /// Bounded plans enter the tally.
    void run(const Bounding& bounding, Crew& crew);

    /// True if there is something to try. Callable from any thread.
    [[nodiscard]] bool has_bounded() const { return has_bounded_; }
    [[nodiscard]] bool is_asked_to_stop() const;
    /// What ended it, where a watch did.
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
