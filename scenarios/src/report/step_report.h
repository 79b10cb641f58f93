// The text of `podsim run` for a training step.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenarios/src/report/machine_text.h"
#include "scenarios/src/report/verdict.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// Returns the names of all sections (step_sections.h), which --verbose shows.
std::vector<std::string> names_of_sections();

/// Sections of a report that are not read from the result alone.
struct ReportParts {
    std::vector<std::string> sections = names_of_sections();
    std::string faster{};       ///< a line on faster resources (order_noise.h)
    std::string suggestions{};  ///< a section
    std::string order{};        ///< a line on order noise (order_noise.h)
};

/// Returns sections with aligned columns and human units at four significant digits. Printed terms
/// add up to their printed sum (largest remainders, text/table). A step that does not fit in
/// memory, or hardly fits, always has its memory section. The last line has the wall time.
std::string step_report(const Scenario& scenario, const StepResult& result,
                        std::span<const Verdict> verdicts, WallTime wall = {},
                        const ReportParts& parts = {});

}  // namespace podsim::scenarios
