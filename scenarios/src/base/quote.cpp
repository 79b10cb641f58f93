#include "scenarios/src/base/quote.h"

#include <algorithm>
#include <fmt/format.h>

namespace podsim::scenarios {

std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) {
        return 1;
    }
    // The range of the second byte excludes overlong forms, surrogates and code points above
    // U+10FFFF.
    struct Lead {
        unsigned char first, last, second_least, second_most;
        std::size_t length;
    };
    constexpr Lead kLeads[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                               {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                               {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                               {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (const Lead& lead : kLeads) {
        if (byte(0) < lead.first || byte(0) > lead.last) {
            continue;
        }
        if (text.size() < lead.length || byte(1) < lead.second_least ||
            byte(1) > lead.second_most) {
            return 0;
        }
        for (std::size_t i = 2; i < lead.length; ++i) {
            if (byte(i) < 0x80 || byte(i) > 0xbf) {
                return 0;
            }
        }
        return lead.length;
    }
    return 0;
}

std::size_t hidden_character(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    if (byte(0) < 0x20 || byte(0) == 0x7f || character_length(text) == 0) {
        return 1;
    }
    if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) {
        return 2;  // U+0080 to U+009F; terminals take several of them for commands
    }
    const bool turns =
        byte(0) == 0xe2 && ((byte(1) == 0x80 && ((byte(2) >= 0x8e && byte(2) <= 0x8f) ||
                                                 (byte(2) >= 0xaa && byte(2) <= 0xae))) ||
                            (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));
    return turns ? 3 : 0;  // a change of the writing direction
}

bool has_hidden_character(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); i += character_length(text.substr(i))) {
        if (hidden_character(text.substr(i)) > 0) {
            return true;
        }
    }
    return false;
}

std::string escaped(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t hidden = hidden_character(text.substr(i));
        const std::size_t length = hidden > 0 ? hidden : character_length(text.substr(i));
        for (const char byte : text.substr(i, length)) {
            if (hidden > 0) {
                shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
            } else {
                shown += byte;
            }
        }
        i += length;
    }
    return shown;
}

std::string printable(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::size_t length = std::min(text.size(), kLongest);
    while (length < text.size() && length > 0 &&
           (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) {
        --length;  // never inside a UTF-8 character
    }
    const std::string shown = escaped(text.substr(0, length));
    return length < text.size() ? shown + "..." : shown;
}

std::string one_line(std::string_view message) {
    std::string line;
    for (const char c : message) {
        const auto byte = static_cast<unsigned char>(c);
        line += byte < 0x20 || byte == 0x7f ? ' ' : c;
    }
    return escaped(line);
}

std::string in_quotes(std::string_view text) {
    return '\'' + printable(text) + '\'';
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return text;
}

}  // namespace podsim::scenarios
