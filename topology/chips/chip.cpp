#include "topology/chips/chip.h"

#include <string>
#include <vector>

#include "sim/base/nearest.h"
#include "topology/chips/chip_table.h"
#include "topology/chips/slice_names.h"

namespace podsim::topology {
namespace {

std::string number_in(std::string_view name) {
    std::string digits;
    for (const char letter : name) {
        if (letter >= '0' && letter <= '9') {
            digits += letter;
        }
    }
    return digits;
}

/// Returns the error for an unknown chip. It matches the generation by its number, since letters
/// alone mislead: `v7` means tpu7x, not v2.
sim::InputError unknown_chip(std::string_view name, const std::vector<std::string>& names) {
    const std::string number = number_in(name);
    const std::string nearest = sim::nearest(name, names);
    for (const std::string& other : names) {
        if (!number.empty() && number_in(nearest) != number && number_in(other) == number) {
            return sim::unknown_name("chip", name, names, other);
        }
    }
    return sim::unknown_name("chip", name, names);
}

}  // namespace

std::span<const ChipSpec> chip_catalogue() {
    return chip_table();
}

const ChipSpec& find_chip(std::string_view name) {
    for (const ChipAlias& alias : chip_aliases()) {
        if (alias.name == name) {
            name = alias.chip;
        }
    }
    std::vector<std::string> names;
    for (const ChipSpec& chip : chip_catalogue()) {
        if (chip.name == name) {
            return chip;
        }
        names.push_back(chip.name);
    }
    throw unknown_chip(name, names);
}

}  // namespace podsim::topology
