// The work of a search in pieces, for whoever does it: the threads of this process, or other ranks
// with the same space. Pieces and results are texts (CBOR).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/search/candidates.h"
#include "scenarios/src/search/known_bounds.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/search/time_front.h"
#include "scenarios/src/simulate/step_memory.h"
#include "sim/base/time.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

// Lower bounds of the time that a step still takes when an operation begins: the longest path from
// there, every operation at its lower bound.
//
// If no chip of a run has begun operation i before t, all chips are at a front {t, t, ...} before
// it (time_front.h), and the step ends no sooner than t + left[i]. A front f leads to an end of the
// step at max(f[k] + left[k]). `TimeFront::behind`, taken backwards, is
//   alike:     left'[k] = left[k] + B              nobody:  left'[0] = left[0] + receive
//   a family:  left'[0] = max(left[0] + receive, left[own] + B)
//              left'[own] = max(left[0], left[own] + send)

/// Returns the times by operation, for a program whose operations run in the order of Op::after.
/// `times`: of each operation.
std::vector<sim::Time> times_left(const workloads::StepProgram& program,
                                  std::span<const LeastTime> times);

/// Returns the same for the programs that a scenario's step runs (simulate/step_programs.h); empty
/// for several programs, which wait for each other. `known` caches bounds of collectives.
std::vector<sim::Time> times_left(const Scenario& scenario, const workloads::StepPrograms& programs,
                                  KnownBounds& known);

/// Result of a candidate's simulation.
struct CandidateRun {
    bool stopped = false;   ///< a request from outside ended it
    bool is_whole = false;  ///< it ran to its end
    std::string refused{};
    /// Step time at the end. For a run that was ended because it could no longer be of use, the
    /// time that the step surely takes.
    sim::Time step_time{};
    double peak = 0;
    /// The account of its memory leaves open whether it fits.
    bool tight = false;
};

/// Does pieces of work on a space. `watch` is not notified of simulations; it ends them when it is
/// asked to stop. `stop_bounding`, of Bounding::bound, ends a piece with the plans bounded so far.
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

    /// Return the work of bounding the plans of a piece of a machine (Bounding), or of a rough
    /// group. `bounded` reads the result; it throws Stopped if the watch ended the work.
    static std::string to_bound(std::size_t machine, std::size_t piece);
    static std::string to_refine(const RoughGroup& group);
    static BoundedPlans bounded(const std::string& result);
    /// Returns the work of simulating a candidate. A run is ended once it is proven to take more
    /// than `longest`. `trial` reads the result.
    static std::string to_try(const PlanFacts& facts, const Candidate& candidate,
                              sim::Time longest);
    /// Returns the work of simulating the scenario's own plan to its end.
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
