// Facts of a plan that are known before it is simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/search/search_spec.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// Facts that candidates of one setting and one class of sizes have in common.
struct PlanFacts {
    std::uint32_t setting = 0;
    double least_peak = 0;  ///< bytes
    double capacity = 0;
    int chips = 0;
    std::int64_t tokens = 0;  ///< per step
    double flops = 0;         ///< per step, as the MFU counts them
    /// Per step, by all chips: the FLOPs of every plan of this model and batch.
    double executed_flops = 0;
    double peak_flops = 0;                   ///< per second, of all chips
    std::optional<double> usd_per_second{};  ///< of all chips
    std::optional<double> run_tokens{};      ///< report.tokens

    /// Returns the cost of a training run of these steps.
    [[nodiscard]] double run_usd(sim::Time step) const {
        const double steps = run_tokens.value_or(0) / static_cast<double>(tokens);
        return usd_per_second.value_or(0) * step.seconds() * steps;
    }
};

struct Candidate {
    sim::Time bound{};
    std::uint32_t facts = 0;  ///< index in BoundedPlans::facts
    /// Index among the setting's meshes; 0 if the mesh is not searched.
    std::uint32_t mesh = 0;
    sim::Time likely{};  ///< expected step time (StepOutline::Estimate)
};

/// Reads the facts off a scenario that is a step, except for its lower bound of memory.
PlanFacts facts_of(const Scenario& scenario, std::uint32_t setting);

/// Returns a lower bound of a step of this model and batch, whatever the plan: all chips at their
/// peak.
sim::Time least_time(const PlanFacts& facts);

/// Returns the index of a plan in the space, which breaks ties between plans that are as good.
std::uint64_t place_of(const PlanFacts& facts, const Candidate& candidate);
/// True if a step meets the requests other than memory: a deadline, a budget.
bool is_wanted(const SearchSpec& spec, const PlanFacts& facts, sim::Time time);

/// Reason to refuse a plan whose step leaves the clock's range.
inline constexpr std::string_view kBeyondTheClock = "a step of more than N days";

}  // namespace podsim::scenarios
