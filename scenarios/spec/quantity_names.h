// The vocabulary of reported values: what each is called, its unit, its JSON key, what it means. How a value is read off
// a result stands in report/quantities, a row of the same name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// What a value counts, and so how it is written.
enum class ValueUnit {
    time,
    share,  ///< of 1, written in percent
    count,
    bytes,
    token_rate,  ///< tokens a second
    money,       ///< US dollars
    text,
    truth,
};

/// The part of a step's JSON that a value stands in; parts and values keep their order.
enum class JsonPart {
    none,  ///< not in the JSON
    machine,
    times,
    rates,
    bounds,
    memory,
    layers,
    pipeline,
    imbalance,
    even_work,
    evaluation,
    training_run,
    inference,
    events,
    folding,
};

struct QuantityName {
    std::string_view name;  ///< as in `expect`
    ValueUnit unit{};
    std::string_view meaning;
    /// In JSON, and as a column of sweeps: the name with its unit; a dot leads into a map.
    std::string_view key{};
    JsonPart part = JsonPart::none;
    /// How `expect` writes a value of it, `2.2 s`; empty: not a quantity of `expect`.
    std::string_view example{};
    bool analytic = false;     ///< a formula's or an estimate's value, not simulated
    bool of_programs = false;  ///< of program scenarios too
    bool column = false;       ///< of the CSV of sweeps
    bool of_serving = false;   ///< of serving runs, and of nothing else
};

/// What a result is reported by, in the order of the CSV's columns.
std::span<const QuantityName> reported_quantities();

/// What a serving run (`serving:`) is held to.
std::span<const QuantityName> served_quantities();

/// The quantities of `expect`: reported ones, then those of serving runs, then the formulas (spec/formulas.h).
std::vector<QuantityName> expected_quantities();

/// A reported quantity, one of serving runs, or a formula. Throws sim::InputError (without a place) with the nearest name.
const QuantityName& find_quantity(std::string_view name);

}  // namespace podsim::scenarios
