// Reported values: how each quantity of spec/quantity_names is read from a result. A row of the
// same name there has its unit and its JSON key. Verdicts, the JSON of results, and the columns of
// sweeps follow from the two.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/program.h"
#include "scenarios/src/scenario/quantity_names.h"
#include "scenarios/src/scenario/scenario.h"
#include "scenarios/src/simulate/simulate.h"

namespace podsim::scenarios {

/// A value in its base unit (seconds, bytes, fractions of 1); std::monostate if a result has none.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct QuantitySource {
    std::string_view name;
    Value (*of_step)(const Scenario& scenario, const StepResult& result) = nullptr;
    /// nullptr for a quantity that only steps have.
    Value (*of_program)(const Scenario& scenario, const ProgramResult& result) = nullptr;
};

/// Returns the sources in the order of reported_quantities().
std::span<const QuantitySource> quantity_sources();

/// Returns the value of a reported quantity or of a formula; none if the result has none. Throws
/// sim::InputError with the nearest name for others.
Value value_of(std::string_view quantity, const Scenario& scenario, const StepResult& result);
Value value_of(std::string_view quantity, const Scenario& scenario, const ProgramResult& result);

/// Returns the time to train `report.tokens`, with the evaluation steps of the scenario's blocks.
double training_run_seconds(const Scenario& scenario, const StepResult& result);

/// Returns a number: whole numbers as they are, truth as 0 or 1; 0 for text and without a value.
double number_of(const Value& value);

/// Returns the value of a quantity with its unit: `2.200 s`, `45.00 %`, `1.900M tokens/s`.
std::string quantity_text(std::string_view quantity, double value);

Json json_of(const Value& value);
/// Returns the value of `key` (`a`, or `a.b` in a map): a number, a truth value or a text.
Value value_at(const Json& json, std::string_view key);

/// Adds the values of a section of the JSON under their keys. A missing value is left out for a
/// step and null for a program.
void add_values(Json& json, JsonPart part, const Scenario& scenario, const StepResult& result);
void add_values(Json& json, JsonPart part, const Scenario& scenario, const ProgramResult& result);

}  // namespace podsim::scenarios
