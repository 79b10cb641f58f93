#include "collectives/vocabulary/operation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/nearest.h"

namespace podsim::collectives {
namespace {

struct Name {
    Operation operation;
    std::string_view text;
};
constexpr std::array kNames{
    Name{Operation::all_gather, "all-gather"}, Name{Operation::reduce_scatter, "reduce-scatter"},
    Name{Operation::all_reduce, "all-reduce"}, Name{Operation::all_to_all, "all-to-all"},
    Name{Operation::permute, "permute"},       Name{Operation::send, "send"},
    Name{Operation::broadcast, "broadcast"},   Name{Operation::gather, "gather"},
    Name{Operation::scatter, "scatter"}};
constexpr std::array kOperations{
    Operation::all_gather, Operation::reduce_scatter, Operation::all_reduce,
    Operation::all_to_all, Operation::permute,        Operation::send,
    Operation::broadcast,  Operation::gather,         Operation::scatter};

}  // namespace

std::string_view to_string(Operation operation) {
    for (const Name& name : kNames) {
        if (name.operation == operation) {
            return name.text;
        }
    }
    return "unknown";
}

Operation parse_operation(std::string_view text) {
    std::vector<std::string> names;
    for (const Name& name : kNames) {
        if (name.text == text) {
            return name.operation;
        }
        names.emplace_back(name.text);
    }
    throw sim::unknown_name("operation", text, names);
}

std::span<const Operation> all_operations() {
    return kOperations;
}

int SteppedGather::source(int member, std::size_t piece) const {
    const auto at = std::ranges::find(ring, member) - ring.begin();
    const auto length = static_cast<std::ptrdiff_t>(ring.size());
    return ring[static_cast<std::size_t>(
        (at - static_cast<std::ptrdiff_t>(piece) % length + length) % length)];
}

int group_size(const Group& group) {
    int size = 1;
    for (const topology::AxisFactor& factor : group) {
        size *= factor.length;
    }
    return size;
}

}  // namespace podsim::collectives
