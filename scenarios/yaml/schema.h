// Every key a scenario may hold, declared once: what stands under it, its default, its meaning.
//
// The table in schema_keys.cpp is the manual of the format: `podsim run --help` prints it, check_schema
// enforces it, and the loader (load.h) may ask only for keys that stand in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/yaml/yaml_tree.h"
#include "sim/base/input_faults.h"

namespace podsim::scenarios {

/// What may stand under a key; combined with |.
inline constexpr unsigned kText = 1;
inline constexpr unsigned kMap = 2;
inline constexpr unsigned kList = 4;
/// And the word `auto`, for a search to find the value: no run takes it.
inline constexpr unsigned kAuto = 8;

struct KeySpec {
    std::string_view path;  ///< from the top, dots between keys; `*` stands for any key
    unsigned accepts = kText;
    std::string_view form;      ///< how the value is written
    std::string_view fallback;  ///< its default; `required` without one
    std::string_view meaning;
};

std::span<const KeySpec> schema();

/// The entry of a path; nullptr when the format has no such key.
const KeySpec* find_key(std::string_view path);

/// Names of the keys of the map at `path` (empty: the top), in the order of the table.
std::vector<std::string> keys_of(std::string_view path);

/// Checks every key of the tree and the kind of every value against the table.
/// Throws sim::InputError, or sim::InputErrors of all that offends.
void check_schema(const YamlNode& root);

/// The tree without the keys and values that offend, each of which becomes a fault: of an unknown key at the place of the
/// key that was meant, where one is near; of a list's entry, which becomes null. Throws sim::InputError for a file that is no map.
YamlNode sound_part(YamlNode root, sim::InputFaults& faults);

/// Where the value at a place stands, or as much of the way there as is written; a setting of the plan that is left out is at
/// fault together with the mesh, or with the batch.
sim::SourceMark place_of(const YamlNode& root, std::string_view place);

/// The table as text for `--help`.
std::string schema_help();

}  // namespace podsim::scenarios
