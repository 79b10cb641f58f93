// The tables of a step's report, each a section of its own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

struct StepSection {
    std::string_view name;  ///< what --show calls it
    std::string_view meaning;
    /// With its last line's end; empty where the step has nothing of it.
    std::string (*text)(const Scenario& scenario, const StepResult& result);
};

/// In the order in which a report has them.
std::span<const StepSection> step_sections();

/// Throws sim::InputError with the nearest name for others.
const StepSection& find_section(std::string_view name);

}  // namespace podsim::scenarios
