// What podsim knows by name: `podsim list`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/catalogue/catalogue_entry.h"

namespace podsim::scenarios {

struct Catalogue {
    std::string_view name;  ///< `chips`
    std::string_view one;   ///< `chip`
    std::string (*table)();
    std::vector<CatalogueEntry> (*entries)();
};
std::span<const Catalogue> catalogues();

/// The catalogue of that name. Throws sim::InputError with the nearest.
const Catalogue& find_catalogue(std::string_view name);

/// Its entry of that name, a chip also by another name that people use. Throws sim::InputError with the nearest.
CatalogueEntry find_entry(const Catalogue& catalogue, std::string_view name);

/// Its values, a line each, with their sources.
std::string entry_text(const CatalogueEntry& entry);

/// The document of `podsim list --json`, of these entries.
Json catalogue_json(const Catalogue& catalogue, std::span<const CatalogueEntry> entries);

}  // namespace podsim::scenarios
