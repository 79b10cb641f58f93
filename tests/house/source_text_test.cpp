// Rules for the text of source files.
#include <algorithm>
#include <array>
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

/// Headers begin with their purpose, and are included once.
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

/// Files of other projects that comments cite by name.
constexpr std::array<std::string_view, 6> kFilesOfOthers{"llama.cpp",
                                                         "xla/service/spmd/shardy/constants.h",
                                                         "shard_barrier_partitioner.h",
                                                         "xla/service/latency_hiding_scheduler.h",
                                                         "service/spmd/spmd_partitioner_util.h",
                                                         "collective_pipeliner.h"};

/// Returns the words of a line's comment that end in `.h` or `.cpp`.
std::vector<std::string> files_named_in(const std::string& line) {
    std::vector<std::string> named;
    const std::size_t comment = line.find("// ");
    std::string word;
    for (std::size_t i = comment; i != std::string::npos && i <= line.size(); ++i) {
        const char c = i < line.size() ? line[i] : ' ';
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/' || c == '.' ||
            c == '-') {
            word += c;
            continue;
        }
        while (word.ends_with('.')) {
            word.pop_back();
        }
        if (!word.starts_with('.') && (word.ends_with(".h") || word.ends_with(".cpp"))) {
            named.push_back(word);
        }
        word.clear();
    }
    return named;
}

// A file that a comment names exists; a path in front of it is the end of the file's path.
TEST(Comments, name_files_that_exist) {
    std::vector<std::string> paths;
    std::vector<SourceFile> files;
    for (const char* const folder :
         {"sim", "topology", "collectives", "workloads", "scenarios/src", "tests", "bench"}) {
        for (SourceFile& file : source_files(folder)) {
            paths.push_back('/' + file.path);
            files.push_back(std::move(file));
        }
    }
    std::vector<std::string> missing;
    for (const SourceFile& file : files) {
        for (const std::string& line : file.lines) {
            for (const std::string& name : files_named_in(line)) {
                if (std::ranges::find(kFilesOfOthers, name) == kFilesOfOthers.end() &&
                    std::ranges::none_of(paths, [&](const std::string& path) {
                        return path.ends_with('/' + name);
                    })) {
                    missing.push_back(file.path + ": " + name);
                }
            }
        }
    }
    EXPECT_EQ(missing.size(), 0U) << joined(missing);
}

}  // namespace
}  // namespace podsim::house
