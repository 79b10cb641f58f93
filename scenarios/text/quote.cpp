#include "scenarios/text/quote.h"

#include <algorithm>
#include <fmt/format.h>

namespace podsim::scenarios {

std::string printable(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::size_t length = std::min(text.size(), kLongest);
    while (length < text.size() && length > 0 &&
           (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
        --length;  // not in the middle of a UTF-8 character
    }
    std::string shown;
    for (const char c : text.substr(0, length)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            shown += fmt::format("\\x{:02x}", byte);
        } else {
            shown += c;
        }
    }
    return length < text.size() ? shown + "..." : shown;
}

std::string one_line(std::string_view message) {
    std::string line;
    for (const char c : message) {
        const auto byte = static_cast<unsigned char>(c);
        line += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
    return line;
}

std::string in_quotes(std::string_view text) {
    return '\'' + printable(text) + '\'';
}

}  // namespace podsim::scenarios
