#include "scenarios/src/report/verdict.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "scenarios/src/base/table.h"
#include "scenarios/src/report/quantities.h"

namespace podsim::scenarios {
std::vector<Verdict> judge(std::span<const Expectation> expectations,
                           const std::function<double(std::string_view)>& value) {
    std::vector<Verdict> verdicts;
    for (const Expectation& expectation : expectations) {
        const double reached = value(expectation.quantity);
        const double error = reached / expectation.of - 1;
        verdicts.push_back({expectation, reached, find_quantity(expectation.quantity).analytic,
                            error, std::abs(error) <= expectation.within});
    }
    return verdicts;
}

std::vector<Verdict> judge(const Scenario& scenario, const StepResult& result) {
    return judge(scenario.expectations, [&](std::string_view quantity) {
        return number_of(value_of(quantity, scenario, result));
    });
}

std::vector<Verdict> judge(const Scenario& scenario, const ProgramResult& result) {
    return judge(scenario.expectations, [&](std::string_view quantity) {
        return number_of(value_of(quantity, scenario, result));
    });
}

bool all_hold(std::span<const Verdict> verdicts) {
    return std::ranges::all_of(verdicts, &Verdict::holds);
}

std::string verdict_text(const Verdict& verdict) {
    const Expectation& expectation = verdict.expectation;
    return fmt::format("{} {}: {} expected ({:+.2f} %, within {:.4g} %)", expectation.quantity,
                       standing(verdict.error, expectation.within),
                       quantity_text(expectation.quantity, expectation.of), 100 * verdict.error,
                       100 * expectation.within);
}

std::string verdicts_report(std::span<const Verdict> verdicts) {
    if (verdicts.empty()) {
        return {};
    }
    Table table({1, 5});
    table.row({"Expected", "", "value", "reference", "error", "source"});
    for (const Verdict& verdict : verdicts) {
        const Expectation& expected = verdict.expectation;
        table.row(
            {"  " + expected.quantity, std::string(standing(verdict.error, expected.within)),
             quantity_text(expected.quantity, verdict.value),
             quantity_text(expected.quantity, expected.of),
             fmt::format("{:+.2f} % (within {:.4g} %)", 100 * verdict.error, 100 * expected.within),
             expected.source});
    }
    return table.text(0);
}

}  // namespace podsim::scenarios
