// A page holds the packed text: other code unpacks it.
#include <gtest/gtest.h>
#include <sstream>
#include <string>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "scenarios/src/report/page.h"

namespace podsim::scenarios {
namespace {

/// Decodes RFC 4648, section 4, letter by letter.
std::string from_base64(const std::string& letters) {
    constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    unsigned bits = 0;
    int count = 0;
    for (const char letter : letters.substr(0, letters.find('='))) {
        bits = bits << 6 | static_cast<unsigned>(kAlphabet.find(letter));
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(bits >> count & 0xff);
        }
    }
    return bytes;
}

std::string unpacked(const std::string& packed) {
    const std::string bytes = from_base64(packed);
    boost::iostreams::filtering_istream in;
    in.push(boost::iostreams::gzip_decompressor());
    in.push(boost::iostreams::array_source(bytes.data(), bytes.size()));
    std::ostringstream text;
    boost::iostreams::copy(in, text);
    return text.str();
}

// The lengths include some whose gzip leaves 0, 1 and 2 bytes in the last group of letters.
TEST(PackedText, comes_back_whatever_its_length) {
    std::string text;
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(unpacked(packed_text(text)), text) << i;
        EXPECT_EQ(packed_text(text).size() % 4, 0U) << i;
        text += static_cast<char>('a' + i * i % 26);
    }
}

TEST(PackedText, is_the_same_each_time_and_smaller_than_what_repeats) {
    const std::string text(100'000, 'x');
    EXPECT_EQ(packed_text(text), packed_text(text));
    EXPECT_LT(packed_text(text).size(), 500U);
}

}  // namespace
}  // namespace podsim::scenarios
