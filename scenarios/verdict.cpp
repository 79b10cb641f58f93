// Expectations against results.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "scenarios/report.h"
#include "scenarios/text.h"

namespace podsim::scenarios {
namespace {

double value_of(const std::string& quantity, const StepResult& result) {
    if (quantity == "step_time") {
        return result.step_time.seconds();
    }
    if (quantity == "compute") {
        return result.compute.seconds();
    }
    if (quantity == "exposed_communication") {
        return result.exposed_total.seconds();
    }
    if (quantity == "mfu") {
        return result.mfu;
    }
    if (quantity == "hfu") {
        return result.hfu;
    }
    return result.tokens_per_s;
}

template <class Value>
std::vector<Verdict> judge(const std::vector<Expectation>& expectations, const Value& value) {
    std::vector<Verdict> verdicts;
    for (const Expectation& expectation : expectations) {
        Verdict verdict;
        verdict.expectation = expectation;
        verdict.simulated = value(expectation.quantity);
        verdict.error = verdict.simulated / expectation.of - 1;
        verdict.holds = std::abs(verdict.error) <= expectation.within;
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

}  // namespace

std::vector<Verdict> judge(const Scenario& scenario, const StepResult& result) {
    return judge(scenario.expectations,
                 [&](const std::string& quantity) { return value_of(quantity, result); });
}

std::vector<Verdict> judge(const Scenario& scenario, const ProgramResult& result) {
    return judge(scenario.expectations, [&](const std::string&) { return result.time.seconds(); });
}

bool all_hold(std::span<const Verdict> verdicts) {
    return std::ranges::all_of(verdicts, &Verdict::holds);
}

std::string quantity_text(const std::string& quantity, double value) {
    if (quantity == "mfu" || quantity == "hfu") {
        return format_percent(value);
    }
    return quantity == "tokens_per_s" ? format_count(value) + " tokens/s" : format_time(value);
}

std::string verdict_text(const Verdict& verdict) {
    const Expectation& expectation = verdict.expectation;
    return fmt::format("{} {}: {} expected ({:+.2f} %, within {:.4g} %)", expectation.quantity,
                       verdict.holds ? "holds" : "FAILS",
                       quantity_text(expectation.quantity, expectation.of), 100 * verdict.error,
                       100 * expectation.within);
}

}  // namespace podsim::scenarios
