// Expectations against results.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "scenarios/report/report.h"
#include "scenarios/spec/formulas.h"
#include "scenarios/text/format.h"

namespace podsim::scenarios {
namespace {

constexpr double kLargestPrefixed = 1e18;

double value_of(const std::string& quantity, const Scenario& scenario, const StepResult& result) {
    if (const Formula* const formula = find_formula(quantity)) {
        return formula->value(scenario);
    }
    if (quantity == "book") {
        return result.book.value();
    }
    if (quantity == "roofline_lower") {
        return result.lower.time.value();
    }
    if (quantity == "step_time") {
        return result.step_time.seconds();
    }
    if (quantity == "block_time") {
        return result.block.seconds();
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

double value_of(const std::string& quantity, const ProgramResult& result) {
    if (quantity == "book") {
        return result.book.value_or(sim::Seconds(0)).value();
    }
    return quantity == "roofline_lower" ? result.lower.value() : result.time.seconds();
}

template <class Value>
std::vector<Verdict> judge(const std::vector<Expectation>& expectations, const Value& value) {
    std::vector<Verdict> verdicts;
    for (const Expectation& expectation : expectations) {
        Verdict verdict;
        verdict.expectation = expectation;
        verdict.value = value(expectation.quantity);
        verdict.analytic = is_analytic(expectation.quantity);
        verdict.error = verdict.value / expectation.of - 1;
        verdict.holds = std::abs(verdict.error) <= expectation.within;
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

}  // namespace

std::vector<Verdict> judge(const Scenario& scenario, const StepResult& result) {
    return judge(scenario.expectations,
                 [&](const std::string& quantity) { return value_of(quantity, scenario, result); });
}

std::vector<Verdict> judge(const Scenario& scenario, const ProgramResult& result) {
    return judge(scenario.expectations,
                 [&](const std::string& quantity) { return value_of(quantity, result); });
}

bool all_hold(std::span<const Verdict> verdicts) {
    return std::ranges::all_of(verdicts, &Verdict::holds);
}

std::string quantity_text(const std::string& quantity, double value) {
    switch (unit_of(quantity)) {
        case ValueUnit::time:
            return format_time(value);
        case ValueUnit::share:
            return format_percent(value);
        case ValueUnit::count:
            return value < kLargestPrefixed ? format_count(value) : fmt::format("{:.3e}", value);
        case ValueUnit::bytes:
            return format_bytes(sim::Bytes(value));
        case ValueUnit::token_rate:
            return format_count(value) + " tokens/s";
    }
    return {};
}

std::string verdict_text(const Verdict& verdict) {
    const Expectation& expectation = verdict.expectation;
    return fmt::format("{} {}: {} expected ({:+.2f} %, within {:.4g} %)", expectation.quantity,
                       verdict.holds ? "holds" : "FAILS",
                       quantity_text(expectation.quantity, expectation.of), 100 * verdict.error,
                       100 * expectation.within);
}

}  // namespace podsim::scenarios
