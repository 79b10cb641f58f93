// Reported values: how each quantity of spec/quantity_names is read off a result. A row of the same name there says its
// unit and its JSON key; from the two follow verdicts, the JSON of results, and the columns of sweeps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "scenarios/simulate/simulate.h"
#include "scenarios/spec/program.h"
#include "scenarios/spec/quantity_names.h"
#include "scenarios/spec/scenario.h"
#include "scenarios/text/json_text.h"

namespace podsim::scenarios {

/// A value in its base unit (seconds, bytes, shares of 1); std::monostate where a result has none.
using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct QuantitySource {
    std::string_view name;
    Value (*of_step)(const Scenario& scenario, const StepResult& result) = nullptr;
    /// nullptr for what only steps have.
    Value (*of_program)(const Scenario& scenario, const ProgramResult& result) = nullptr;
};

/// In the order of reported_quantities().
std::span<const QuantitySource> quantity_sources();

/// The value of a reported quantity or of a formula, none where the result has none. Throws sim::InputError with the
/// nearest name for others.
Value value_of(std::string_view quantity, const Scenario& scenario, const StepResult& result);
Value value_of(std::string_view quantity, const Scenario& scenario, const ProgramResult& result);

/// Of `report.tokens`, with the evaluation steps of the scenario's blocks.
double training_run_seconds(const Scenario& scenario, const StepResult& result);

/// Whole numbers, and truth as 0 or 1, as numbers; 0 for text and where there is none.
double number_of(const Value& value);

/// The value of a quantity with its unit: `2.200 s`, `45.00 %`, `1.900M tokens/s`.
std::string quantity_text(std::string_view quantity, double value);

Json json_of(const Value& value);
/// What `key` (`a`, or `a.b` in a map) holds: a number, a truth value or a text.
Value value_at(const Json& json, std::string_view key);

/// Puts the values of a part of the JSON under their keys; of a step leaves out what it has none of, of a program says
/// null.
void add_values(Json& json, JsonPart part, const Scenario& scenario, const StepResult& result);
void add_values(Json& json, JsonPart part, const Scenario& scenario, const ProgramResult& result);

}  // namespace podsim::scenarios
