// What there is to do of a search, piece by piece, for whoever does it: this process's threads, or other ranks, whose spaces are the
// same. Pieces and results are texts (CBOR).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "scenarios/simulate/step_memory.h"
#include "scenarios/space/candidates.h"
#include "scenarios/space/search_space.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/watch/watch.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// What a simulation of a candidate came to.
struct CandidateRun {
    bool stopped = false;   ///< it was ended by a wish from outside
    bool is_whole = false;  ///< it has come to its end
    std::string refused{};
    /// At its end; of a run that was ended because nothing came of it any more, what the step surely takes.
    sim::Time step_time{};
    double peak = 0;
    bool tight = false;  ///< the account of its memory leaves open if it fits
};

/// `watch` hears nothing of simulations, and ends them when it is asked to stop. `stop_bounding`, of Bounding::bound, ends a piece with what
/// is bounded.
class PlanWork {
public:
    PlanWork(
        const SearchSpace& space, Watch* watch,
        std::function<bool(bool)> stop_bounding = [](bool) { return false; })
        : space_(space),
          bounding_(space),
          pieces_(watch),
          stop_bounding_(std::move(stop_bounding)) {}

    [[nodiscard]] const Bounding& bounding() const { return bounding_; }

    [[nodiscard]] std::string work(const std::string& piece);

    /// Bounds the plans of a piece of a machine (Bounding), or of a rough group; the result is
    /// `bounded`, which throws Stopped where the watch ended that.
    static std::string to_bound(std::size_t machine, std::size_t piece);
    static std::string to_refine(const RoughGroup& group);
    static BoundedPlans bounded(const std::string& result);
    /// Simulates a candidate; a run is ended that is proven to take more than `longest`. The result is `trial`.
    static std::string to_try(const PlanFacts& facts, const Candidate& candidate,
                              sim::Time longest);
    /// The same of the scenario's own plan, to its end.
    static std::string to_try_own();
    static CandidateRun trial(const std::string& result);

private:
    [[nodiscard]] CandidateRun simulate(const std::function<Scenario()>& load, sim::Time longest);

    const SearchSpace& space_;
    const Bounding bounding_;
    QuietWatch pieces_;
    const std::function<bool(bool)> stop_bounding_;
    StepMemory memory_;
};

}  // namespace podsim::scenarios
