// The operations that members of a group carry out together, by name.
#pragma once

#include <span>
#include <string_view>

namespace podsim::collectives {

enum class Operation {
    all_gather,
    reduce_scatter,
    all_reduce,
    all_to_all,
    permute,    ///< every member's shard to the member `shift` ranks further
    send,       ///< from one chip to another
    broadcast,  ///< from one member to all
    gather,     ///< every member's shard to one member
    scatter,    ///< and back
};

// The names are in the rows of the catalogue (catalogue/operations.cpp).

/// Returns `all-gather`, `reduce-scatter`, `all-reduce`, `all-to-all`, `permute`, `send`,
/// `broadcast`, `gather` or `scatter`.
std::string_view to_string(Operation operation);
/// Reads the names above. Throws sim::InputError with the nearest valid one.
Operation parse_operation(std::string_view text);
/// Every operation, in the order of the enumeration.
std::span<const Operation> all_operations();

}  // namespace podsim::collectives
