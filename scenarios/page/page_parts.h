// The parts of a page as they stand in the program: files of web/, and of bundle/ what web/build.mjs made of others.
#pragma once

#include <string_view>

namespace podsim::scenarios {

/// HTML with `@title@`, `@style@`, ... in the places of the other parts.
std::string_view page_template();
std::string_view page_style();
std::string_view page_unpacker();
/// gzip.
std::string_view page_script();
std::string_view page_library();

}  // namespace podsim::scenarios
