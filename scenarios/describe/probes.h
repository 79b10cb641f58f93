// What the loader asks of scenarios of every sort: how each key is read, and which names it takes.
//
// Keys are read where they have a meaning, so that no one scenario is asked for all of them. The probes are scenarios of all sorts,
// which between them are asked for every key of the schema (a test holds them to it).
#pragma once

#include <map>
#include <set>
#include <string>

#include "scenarios/yaml/reading_log.h"

namespace podsim::scenarios {

struct AskedKeys {
    std::map<std::string, Asked> keys;  ///< by path; names that it takes of all probes
    std::set<std::string> texts;  ///< keys that another rule may read: sizes or axes of a mesh
    /// Keys without which no sound probe has the map that they stand in.
    std::set<std::string> required;
};

AskedKeys ask_probes();

}  // namespace podsim::scenarios
