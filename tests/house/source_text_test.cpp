// Rules for the text of source files.
#include <algorithm>
#include <array>
#include <cctype>
#include <gtest/gtest.h>
#include <map>
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

/// Returns the constant `kName` that a line at namespace scope defines; empty for other lines.
std::string constant_in(const std::string& line) {
    if (!line.starts_with("constexpr ") && !line.starts_with("const ") &&
        !line.starts_with("inline const")) {
        return {};
    }
    const std::string head = line.substr(0, line.find_first_of("={[(", line.find(" k")));
    const std::size_t name = head.rfind(" k");
    std::string found = name == std::string::npos ? "" : head.substr(name + 1);
    std::erase(found, ' ');
    return found;
}

// Files of a room are compiled together, so that a constant of one file hides that of a header in
// the files after it, and they take its value without a word. (A test's scenario took another
// test's so.)
TEST(Constants, of_files_do_not_hide_those_of_headers) {
    std::vector<std::string> hiding;
    for (const char* const folder :
         {"sim", "topology", "collectives", "workloads", "scenarios/src", "tests"}) {
        std::map<std::string, std::string> of_headers;
        for (const SourceFile& file : source_files(folder)) {
            for (const std::string& line : file.lines) {
                if (file.path.ends_with(".h")) {
                    of_headers.emplace(constant_in(line), file.path);
                }
            }
        }
        of_headers.erase("");
        for (const SourceFile& file : source_files(folder)) {
            for (const std::string& line : file.lines) {
                const auto hidden = of_headers.find(constant_in(line));
                if (file.path.ends_with(".cpp") && hidden != of_headers.end()) {
                    hiding.push_back(file.path + ": " + hidden->first + " of " + hidden->second);
                }
            }
        }
    }
    EXPECT_EQ(hiding.size(), 0U) << joined(hiding);
}

}  // namespace
}  // namespace podsim::house
