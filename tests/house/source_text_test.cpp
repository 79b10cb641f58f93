// What the text of source files must and must not have.
#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/house/layer_table.h"
#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

/// The kernel is free of the domain: outside comments it has no word for chips or collectives.
TEST(Kernel, has_no_words_of_the_domain) {
    const std::vector<std::string> words{"yaml",   "chip",  "torus",       "tpu",  "collective",
                                         "tensor", "model", "transformer", "pcie", "dcn"};
    const std::vector<std::string> found = lines_where("sim", [&](const std::string& line) {
        std::string code = line.substr(0, line.find("//"));
        std::ranges::transform(code, code.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return std::ranges::any_of(words, [&](const auto& w) { return code.find(w) != code.npos; });
    });
    EXPECT_EQ(found.size(), 0U) << joined(found);
}

/// Headers say what they are for, and are read once.
TEST(Headers, begin_with_their_purpose_and_a_guard) {
    for (const Layer& layer : layers()) {
        for (const SourceFile& file : source_files(layer.folder)) {
            if (file.path.ends_with(".h")) {
                EXPECT_TRUE(!file.lines.empty() && file.lines.front().starts_with("// "))
                    << file.path << ":1";
                EXPECT_EQ(std::ranges::count(file.lines, "#pragma once"), 1) << file.path;
            }
        }
    }
}

}  // namespace
}  // namespace podsim::house
