// One entry of a catalogue, value by value.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/base/json_text.h"

namespace podsim::scenarios {

struct CatalogueValue {
    std::string key;   ///< in JSON, with its unit: `hbm_bytes`
    std::string name;  ///< for people: `HBM`
    std::string text;  ///< with its unit
    Json value;
    std::string source{};  ///< the document; empty if it follows from other values
};

struct CatalogueEntry {
    std::string name;
    std::vector<CatalogueValue> values;
};

std::vector<CatalogueEntry> chip_entries();
std::vector<CatalogueEntry> model_entries();
std::vector<CatalogueEntry> scenario_entries();
std::vector<CatalogueEntry> algorithm_entries();
std::vector<CatalogueEntry> remat_entries();

}  // namespace podsim::scenarios
