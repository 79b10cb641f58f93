// Comments read like English: their sentences begin with a subject, and their lines are short.
#include <algorithm>
#include <array>
#include <cctype>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

constexpr std::array<std::string_view, 6> kBeginnings{"What ",  "Of ",    "Whether ",
                                                      "Where ", "Which ", "So many "};
constexpr std::size_t kWidth = 100;

/// Returns the comment that a line consists of or ends with; empty if there is none.
std::string_view comment_of(std::string_view line) {
    bool quoted = false;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
        if (line[i] == '\\') {
            ++i;
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && line.substr(i, 2) == "//") {
            std::string_view text = line.substr(i);
            text.remove_prefix(std::min(text.find_first_not_of("/!< "), text.size()));
            return text;
        }
    }
    return {};
}

/// Returns the sentences of two words and more. A sentence ends at a full stop, a colon or a
/// semicolon before a capital letter.
std::vector<std::string> sentences_of(const std::string& text) {
    std::vector<std::string> all;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool ends =
            i + 2 < text.size() && std::string(".:;!?").find(text[i]) != std::string::npos &&
            text[i + 1] == ' ' && (std::isupper(static_cast<unsigned char>(text[i + 2])) != 0);
        if (ends || i + 1 == text.size()) {
            const std::string sentence = text.substr(begin, i + 1 - begin);
            if (sentence.find(' ') != std::string::npos) {
                all.push_back(sentence);
            }
            begin = i + 2;
        }
    }
    return all;
}

/// Returns the sentences of a file's comments; consecutive lines are one text.
std::vector<std::string> sentences_of(const SourceFile& file) {
    std::vector<std::string> all;
    std::string text;
    const auto flush = [&] {
        const std::vector<std::string> more = sentences_of(text);
        all.insert(all.end(), more.begin(), more.end());
        text.clear();
    };
    for (const std::string& line : file.lines) {
        const std::string_view comment = comment_of(line);
        const bool whole = line.find_first_not_of(' ') == line.find("//");
        if (comment.empty() || !whole) {
            flush();
        }
        if (!comment.empty()) {
            text += text.empty() ? "" : " ";
            text += comment;
        }
    }
    flush();
    return all;
}

/// True if the sentence begins with a word that stands in place of a subject.
bool begins_wrongly(const std::string& sentence) {
    return std::ranges::any_of(kBeginnings,
                               [&](std::string_view word) { return sentence.starts_with(word); });
}

class Words : public testing::TestWithParam<const char*> {};

TEST_P(Words, sentences_of_comments_begin_with_their_subject) {
    std::size_t sentences = 0;
    std::vector<std::string> wrong;
    for (const SourceFile& file : source_files(GetParam())) {
        for (const std::string& sentence : sentences_of(file)) {
            ++sentences;
            if (begins_wrongly(sentence)) {
                wrong.push_back(file.path + ": " + sentence);
            }
        }
    }
    EXPECT_GT(sentences, 20U);
    EXPECT_LE(100 * wrong.size(), sentences) << joined(wrong);
}

TEST_P(Words, lines_with_comments_are_at_most_100_columns) {
    std::vector<std::string> found;
    for (const SourceFile& file : source_files(GetParam())) {
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            if (file.lines[i].size() > kWidth && !comment_of(file.lines[i]).empty()) {
                found.push_back(file.path + ':' + std::to_string(i + 1));
            }
        }
    }
    EXPECT_EQ(found.size(), 0U) << joined(found);
}

INSTANTIATE_TEST_SUITE_P(Folders, Words,
                         testing::Values("sim", "topology", "collectives", "workloads",
                                         "scenarios/src", "tests", "bench"),
                         [](const auto& folder) {
                             std::string name = folder.param;
                             std::ranges::replace(name, '/', '_');
                             return name;
                         });

TEST(WordsThemselves, find_what_they_should) {
    EXPECT_EQ(comment_of("int a = 0;  ///< Of a chip."), "Of a chip.");
    EXPECT_EQ(comment_of(R"(auto url = "http://x";)"), "");
    EXPECT_EQ(sentences_of(std::string("One is. Of two: Three are; four")).size(), 3U);
    EXPECT_TRUE(begins_wrongly("What is read."));
    EXPECT_FALSE(begins_wrongly("Whatever is read."));
}

}  // namespace
}  // namespace podsim::house
