// The parts of a page as they stand in the program: what web/build.mjs has packed.
#pragma once

#include <string_view>

namespace podsim::scenarios {

/// HTML with `@title@`, `@style@`, ... in the places of the other parts; empty in a podsim that was built without them.
std::string_view page_template();
std::string_view page_style();
std::string_view page_unpacker();
/// gzip, in base64.
std::string_view page_script();
std::string_view page_library();

}  // namespace podsim::scenarios
