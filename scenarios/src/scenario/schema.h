// Declares every key of a scenario once: the content under it, its default, its meaning.
//
// The table in schema_keys.cpp is the manual of the format: `podsim help keys` prints it,
// check_schema enforces it, and the loader (load.h) may ask only for keys in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/scenario/yaml_tree.h"
#include "sim/base/input_faults.h"

namespace podsim::scenarios {

/// Kinds of content under a key; combined with |.
inline constexpr unsigned kText = 1;
inline constexpr unsigned kMap = 2;
inline constexpr unsigned kList = 4;
/// Also the word `auto`, for a search to find the value: no run takes it.
inline constexpr unsigned kAuto = 8;

struct KeySpec {
    /// From the top, dots between keys; `*` stands for any key.
    std::string_view path;
    unsigned accepts = kText;
    std::string_view form;      ///< form in which the value is written
    std::string_view fallback;  ///< its default; `required` without one
    std::string_view meaning;
};

std::span<const KeySpec> schema();

/// Returns the entry of a path; nullptr if the format has no such key.
const KeySpec* find_key(std::string_view path);

/// Returns the names of the keys of the map at `path` (empty: the top), in the order of the table.
std::vector<std::string> keys_of(std::string_view path);

/// Checks every key of the tree and the kind of every value against the table. Throws
/// sim::InputError, or sim::InputErrors with all offending keys and values.
void check_schema(const YamlNode& root);

/// Returns the tree without the keys and values that offend, each of which becomes a fault. An
/// unknown key is a fault at the position of the key that was meant, if one is near. An offending
/// entry of a list becomes null. Throws sim::InputError for a file that is no map.
YamlNode sound_part(YamlNode root, sim::InputFaults& faults);

/// Returns the position of the value at a place, or of as much of its path as is written. A setting
/// of the plan that is left out is at fault together with the mesh, or with the batch.
sim::SourceMark place_of(const YamlNode& root, std::string_view place);

/// Returns the table as text for `podsim help keys`.
std::string schema_help();

}  // namespace podsim::scenarios
