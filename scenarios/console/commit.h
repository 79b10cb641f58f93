// What podsim was built from.
#pragma once

#include <string_view>

namespace podsim::scenarios {

/// The commit's first 12 digits, with `-dirty` when tracked files were changed; empty where the sources lay in no repository. Defined
/// in a file that cmake/commit.cmake writes with every build.
std::string_view commit();

}  // namespace podsim::scenarios
