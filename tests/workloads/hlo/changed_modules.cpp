#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/workloads/hlo/draw.h"
#include "tests/workloads/hlo/made_modules.h"

namespace podsim::workloads::hlo {
namespace {

bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

/// Returns the words of a text; every other letter is a word of its own.
std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        while (in_word(text[at]) && end < text.size() && in_word(text[end])) {
            ++end;
        }
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

constexpr std::array<const char*, 16> kNumbers{"0",
                                               "-1",
                                               "1",
                                               "3",
                                               "2147483647",
                                               "2147483648",
                                               "4294967296",
                                               "16777217",
                                               "4611686018427387904",
                                               "9223372036854775807",
                                               "9223372036854775808",
                                               "-9223372036854775808",
                                               "18446744073709551616",
                                               "1e9",
                                               "0x10",
                                               ""};
constexpr std::array<const char*, 24> kOpcodes{"all-gather",
                                               "all-reduce",
                                               "reduce-scatter",
                                               "all-to-all",
                                               "ragged-all-to-all",
                                               "dot",
                                               "collective-permute",
                                               "async",
                                               "fusion",
                                               "custom-call",
                                               "convolution",
                                               "dynamic-slice",
                                               "scatter",
                                               "gather",
                                               "while",
                                               "conditional",
                                               "call",
                                               "parameter",
                                               "constant",
                                               "get-tuple-element",
                                               "tuple",
                                               "ragged-dot",
                                               "bitcast",
                                               "opt-barrier"};
constexpr std::array<const char*, 4> kEndings{"", "-start", "-update", "-done"};

void change(std::vector<std::string>& words, Draw& draw) {
    const std::size_t at = draw.below(words.size());
    const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
    switch (draw.below(9)) {
        case 0:  // the next number
        case 1: {
            const auto found = std::find_if(place, words.end(), [](const std::string& word) {
                return word.find_first_not_of("0123456789") == std::string::npos;
            });
            if (found != words.end()) {
                *found = draw.of(kNumbers);
            }
            return;
        }
        case 2: {  // the next opcode
            for (auto each = place; each + 1 < words.end(); ++each) {
                if (*(each + 1) == "(" && in_word(each->front())) {
                    *each = std::string(draw.of(kOpcodes)) + draw.of(kEndings);
                    return;
                }
            }
            return;
        }
        case 3: {  // the contents of the next parentheses
            const auto open = std::find(place, words.end(), "(");
            const auto close = std::find(open, words.end(), ")");
            if (close != words.end()) {
                words.erase(open + 1, close);
            }
            return;
        }
        case 4:
            words.erase(place);
            return;
        case 5:
            words.insert(place, std::string(words[draw.below(words.size())]));
            return;
        case 6:
            std::swap(words[at], words[draw.below(words.size())]);
            return;
        case 7: {  // duplicated lines at another position
            const auto from = std::find(place, words.end(), "\n");
            const auto until = std::find(from == words.end() ? from : from + 1, words.end(), "\n");
            const std::vector<std::string> line(from, until);
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(draw.below(words.size())),
                         line.begin(), line.end());
            return;
        }
        default:  // the rest is cut off
            words.resize(draw.once_in(8) ? at + 1 : words.size());
    }
}

}  // namespace

std::string changed_module(std::uint32_t seed) {
    Draw draw(seed ^ 0x5bd1e995U);
    std::vector<std::string> words = words_of(made_module(seed));
    for (std::size_t i = draw.below(4) + 1; i > 0 && words.size() > 1; --i) {
        change(words, draw);
    }
    std::string text;
    for (const std::string& word : words) {
        text += word;
    }
    return text;
}

}  // namespace podsim::workloads::hlo
