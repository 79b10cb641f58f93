// A plan as it is known before it is simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "scenarios/space/search_spec.h"
#include "scenarios/spec/scenario.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// What candidates of one setting and one class of sizes have alike.
struct PlanFacts {
    std::uint32_t setting = 0;
    double least_peak = 0;  ///< bytes
    double capacity = 0;
    int chips = 0;
    std::int64_t tokens = 0;  ///< of a step
    double flops = 0;         ///< that the MFU counts, of a step
    double executed_flops =
        0;  ///< of a step: those of every plan of such a model and batch, by all chips
    double peak_flops = 0;                   ///< a second, of all chips
    std::optional<double> usd_per_second{};  ///< of all chips
    std::optional<double> run_tokens{};      ///< report.tokens

    /// Of a training run of such steps.
    [[nodiscard]] double run_usd(sim::Time step) const {
        const double steps = run_tokens.value_or(0) / static_cast<double>(tokens);
        return usd_per_second.value_or(0) * step.seconds() * steps;
    }
};

struct Candidate {
    sim::Time bound{};
    std::uint32_t facts = 0;  ///< an index of BoundedPlans::facts
    std::uint32_t mesh = 0;   ///< of the setting's meshes; 0 where the mesh is not searched
    sim::Time likely{};       ///< about what it takes (StepOutline::Estimate)
};

/// Reads them off a scenario that is a step, but for its least memory.
PlanFacts facts_of(const Scenario& scenario, std::uint32_t setting);

/// What a step of such a model and batch takes at least, whatever the plan: all chips at their peak.
sim::Time least_time(const PlanFacts& facts);

/// Where a plan is in the space: the tie between plans that are as good.
std::uint64_t place_of(const PlanFacts& facts, const Candidate& candidate);
/// What is asked of a step besides its memory: a deadline, a budget.
bool is_wanted(const SearchSpec& spec, const PlanFacts& facts, sim::Time time);

/// Why a plan is refused whose step leaves the clock's range.
inline constexpr std::string_view kBeyondTheClock = "a step of more than N days";

}  // namespace podsim::scenarios
