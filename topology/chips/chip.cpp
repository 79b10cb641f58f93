#include "topology/chips/chip.h"

#include <string>
#include <vector>

#include "sim/base/nearest.h"
#include "topology/chips/slice_names.h"

namespace podsim::topology {
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
    throw sim::unknown_name("chip", name, names);
}

}  // namespace podsim::topology
