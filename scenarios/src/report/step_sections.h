// The tables of a step's report, one section each.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

struct StepSection {
    std::string_view name;  ///< the name for --show
    std::string_view meaning;
    /// Ends with a newline; empty if the section does not apply to the step.
    std::string (*text)(const Scenario& scenario, const StepResult& result);
};

/// Returns the sections in the order of a report.
std::span<const StepSection> step_sections();

/// Returns the section of that name. Throws sim::InputError with the nearest name for others.
const StepSection& find_section(std::string_view name);

}  // namespace podsim::scenarios
