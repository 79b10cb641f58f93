// Text compressed, and written in letters: what a page holds and the browser unpacks.
#pragma once

#include <string>
#include <string_view>

namespace podsim::scenarios {

/// RFC 4648.
std::string base64(std::string_view bytes);

/// gzip (RFC 1952, without a time: the same text gives the same bytes) in base64.
std::string packed_text(std::string_view text);

}  // namespace podsim::scenarios
