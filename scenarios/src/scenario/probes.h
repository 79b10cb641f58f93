// Finds what the loader asks of scenarios of every sort: how each key is read, and which names it
// takes.
//
// Keys are read only if they have a meaning, so that no one scenario is asked for all of them. The
// probes are scenarios of all sorts, which together are asked for every key of the schema (a test
// checks this).
#pragma once

#include <map>
#include <set>
#include <string>

#include "scenarios/src/scenario/reading_log.h"

namespace podsim::scenarios {

struct AskedKeys {
    std::map<std::string, Asked> keys;  ///< by path, with the names from all probes
    /// Keys that another rule may read: sizes or axes of a mesh.
    std::set<std::string> texts;
    /// Keys that are present in every sound probe with the map around them.
    std::set<std::string> required;
};

AskedKeys ask_probes();

}  // namespace podsim::scenarios
