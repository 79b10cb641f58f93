// The vocabulary of reported values: the name of each, its unit, its JSON key, its meaning.
// report/quantities has a row of the same name that reads the value off a result.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// Unit of a value, which decides how it is written.
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

/// Section of a step's JSON that holds a value. Sections and values keep their order.
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
    /// Name with its unit, in JSON and as a column of sweeps; a dot leads into a map.
    std::string_view key{};
    JsonPart part = JsonPart::none;
    /// Example of a value in `expect`, `2.2 s`; empty: not a quantity of `expect`.
    std::string_view example{};
    /// Value of a formula or an estimate, not simulated.
    bool analytic = false;
    bool of_programs = false;  ///< also of program scenarios
    bool column = false;       ///< a column in the CSV of sweeps
    bool of_serving = false;   ///< of serving runs, and of nothing else
};

/// Returns the quantities of a result, in the order of the CSV's columns.
std::span<const QuantityName> reported_quantities();

/// Returns the quantities of a serving run (`serving:`).
std::span<const QuantityName> served_quantities();

/// Returns the quantities of `expect`: reported ones, then those of serving runs, then the formulas
/// (formulas.h).
std::vector<QuantityName> expected_quantities();

/// Returns a reported quantity, one of serving runs, or a formula. Throws sim::InputError (without
/// a position) with the nearest name.
const QuantityName& find_quantity(std::string_view name);

}  // namespace podsim::scenarios
