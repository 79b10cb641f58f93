// The parts of a page, embedded in the program: files of web/, and files of bundle/ that
// web/build.mjs makes from others.
#pragma once

#include <string_view>

namespace podsim::scenarios {

/// HTML with `@title@`, `@style@`, ... as placeholders for the other parts.
std::string_view page_template();
std::string_view page_style();
std::string_view page_unpacker();
/// Compressed with gzip.
std::string_view page_script();
std::string_view page_library();

}  // namespace podsim::scenarios
