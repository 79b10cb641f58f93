// The text of `podsim run` for a training step.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/report/machine_text.h"
#include "scenarios/report/verdict.h"
#include "scenarios/simulate/simulate.h"

namespace podsim::scenarios {

/// All of them (step_sections.h), as --verbose shows them.
std::vector<std::string> names_of_sections();

/// What a report has beside what the step is, how long it takes and why.
struct ReportParts {
    std::vector<std::string> sections = names_of_sections();
    std::string faster{};       ///< a line on faster resources (order_noise.h)
    std::string suggestions{};  ///< a section
    std::string order{};        ///< a line on who comes first (order_noise.h)
};

/// Sections with aligned columns, human units at four significant digits; printed parts add up to their printed sum
/// (largest remainders, text/table). What does not fit in memory, or hardly, has its section in any case. The last line holds the
/// wall time.
std::string step_report(const Scenario& scenario, const StepResult& result,
                        std::span<const Verdict> verdicts, WallTime wall = {},
                        const ReportParts& parts = {});

}  // namespace podsim::scenarios
