#include "scenarios/src/base/checked_line.h"

#include <bit>
#include <fmt/format.h>

#include <boost/crc.hpp>

#include "scenarios/src/base/quote.h"

namespace podsim::scenarios {
namespace {

constexpr std::string_view kBefore = ",\"crc32\":\"";
constexpr std::string_view kBehind = "\"}";
constexpr std::size_t kDigits = 8;
constexpr std::size_t kLength = kBefore.size() + kDigits + kBehind.size();

std::string check_of(std::string_view text) {
    boost::crc_32_type crc;
    crc.process_bytes(text.data(), text.size());
    return fmt::format("{}{:08x}{}", kBefore, crc.checksum(), kBehind);
}

int bits_apart(std::string_view one, std::string_view other) {
    int bits = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        bits += std::popcount(static_cast<unsigned char>(one[i] ^ other[i]));
    }
    return bits;
}

/// True if the line ends with a checksum, right or wrong. The end of a line without one differs in
/// many more bits.
bool has_check(std::string_view line) {
    constexpr int kDamaged = 8;  // bits
    if (line.size() <= kLength) {
        return false;
    }
    const std::string_view end = line.substr(line.size() - kLength);
    return bits_apart(end.substr(0, kBefore.size()), kBefore) +
               bits_apart(end.substr(kBefore.size() + kDigits), kBehind) <=
           kDamaged;
}

}  // namespace

std::string with_check(std::string line) {
    line.pop_back();  // the closing brace
    return line + check_of(line);
}

std::string_view without_check(std::string_view line) {
    return has_check(line) ? line.substr(0, line.size() - kLength) : line;
}

void LineChecks::look_at(std::string_view line, const sim::SourceMark& mark) {
    if (!has_check(line)) {
        ++unchecked_;
    } else if (!line.ends_with(check_of(without_check(line)))) {
        throw sim::InputError("the line is damaged: its crc32 is not that of its text",
                              "remove this line and those behind it, which are then computed again",
                              mark);
    }
}

std::string LineChecks::warning(const std::string& path) const {
    return unchecked_ == 0
               ? ""
               : fmt::format(
                     "{}: {} of its lines {} no crc32, as older releases wrote them: they "
                     "are believed unchecked",
                     printable(path), unchecked_, unchecked_ == 1 ? "has" : "have");
}

}  // namespace podsim::scenarios
