// The layer rule of CONTRIBUTING.md, counted over every #include line: the exceptions are 0.
#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

/// What a code folder may include: of the project (path prefixes) and of the libraries (prefixes of
/// what stands in <>; the standard library has no slash and no suffix). Its own files always.
struct Layer {
    std::string folder;
    std::vector<std::string> project;
    std::vector<std::string> libraries;

    friend std::ostream& operator<<(std::ostream& out, const Layer& layer) {
        return out << layer.folder;
    }
};

const std::vector<Layer>& layers() {
    static const std::vector<Layer> all{
        {"sim", {}, {}},
        {"topology", {"sim/"}, {"boost/", "fmt/"}},
        {"collectives", {"sim/", "topology/"}, {"fmt/"}},
        // A step is built from units, the machine's shape and the words for collectives. Link
        // servers, events and schedules are not its business.
        {"workloads",
         {"sim/quantity.h", "sim/time.h", "sim/error.h", "sim/nearest.h", "topology/",
          "collectives/operation.h", "collectives/bounds.h"},
         {"fmt/", "nlohmann/"}},
        {"scenarios",
         {"sim/", "topology/", "collectives/", "workloads/"},
         {"Eigen/", "boost/", "fmt/", "nlohmann/", "oneapi/", "unistd.h", "unsupported/Eigen/",
          "yaml-cpp/"}},
    };
    return all;
}

struct Include {
    std::string name;
    bool quoted = false;
};

std::string_view without_blanks_before(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::optional<Include> include_of(std::string_view line) {
    for (const std::string_view word : {"#", "include"}) {
        line = without_blanks_before(line);
        if (!line.starts_with(word)) {
            return std::nullopt;
        }
        line.remove_prefix(word.size());
    }
    line = without_blanks_before(line);
    if (line.empty() || (line[0] != '"' && line[0] != '<')) {
        return std::nullopt;
    }
    const bool quoted = line[0] == '"';
    line.remove_prefix(1);
    return Include{std::string(line.substr(0, line.find(quoted ? '"' : '>'))), quoted};
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
    return std::ranges::any_of(prefixes, [&](const auto& p) { return text.starts_with(p); });
}

bool standard_header(const std::string& name) {
    return name.find_first_of("/.") == std::string::npos;
}

bool allowed(const Layer& layer, const Include& include) {
    if (include.quoted) {
        return include.name.starts_with(layer.folder + '/') ||
               starts_with_any(include.name, layer.project);
    }
    return standard_header(include.name) || starts_with_any(include.name, layer.libraries);
}

/// `file:line: text` of every line of the folder for which `wrong` holds.
template <class Wrong>
std::vector<std::string> violations(const std::string& folder, Wrong wrong) {
    std::vector<std::string> found;
    for (const SourceFile& file : source_files(folder)) {
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            if (wrong(file.lines[i])) {
                found.push_back(file.path + ':' + std::to_string(i + 1) + ": " + file.lines[i]);
            }
        }
    }
    return found;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += "\n  " + line;
    }
    return text;
}

class LayerRule : public testing::TestWithParam<Layer> {};

TEST_P(LayerRule, has_no_exceptions) {
    const Layer& layer = GetParam();
    const std::vector<std::string> found = violations(layer.folder, [&](const std::string& line) {
        const std::optional<Include> include = include_of(line);
        return include && !allowed(layer, *include);
    });
    EXPECT_EQ(found.size(), 0U) << "includes against the layer rule:" << joined(found);
}

TEST_P(LayerRule, looks_at_the_files) {
    std::size_t includes = 0;
    for (const SourceFile& file : source_files(GetParam().folder)) {
        includes += static_cast<std::size_t>(std::ranges::count_if(
            file.lines, [](const auto& l) { return include_of(l).has_value(); }));
    }
    EXPECT_GT(includes, 10U);
}

TEST_P(LayerRule, keeps_source_files_below_400_lines) {
    for (const SourceFile& file : source_files(GetParam().folder)) {
        EXPECT_LT(file.lines.size(), 400U) << file.path << ":" << file.lines.size();
    }
}

INSTANTIATE_TEST_SUITE_P(Folders, LayerRule, testing::ValuesIn(layers()),
                         [](const auto& layer) { return layer.param.folder; });

/// Reads a line as the rule does: the test must see what it forbids.
TEST(LayerRuleItself, refuses_what_it_should) {
    const Layer& sim = layers().front();
    const Layer& workloads = layers()[3];
    const auto ok = [](const Layer& layer, const std::string& line) {
        return allowed(layer, include_of(line).value());
    };
    EXPECT_TRUE(ok(sim, R"(#include "sim/time.h")"));
    EXPECT_TRUE(ok(sim, "#include <vector>"));
    EXPECT_FALSE(ok(sim, R"(#include "topology/chip.h")"));
    EXPECT_FALSE(ok(sim, "#include <yaml-cpp/yaml.h>"));
    EXPECT_FALSE(ok(sim, "  #  include \"tests/house/source_files.h\"  // why"));
    EXPECT_TRUE(ok(workloads, R"(#include "collectives/operation.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "collectives/schedule.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "sim/event_queue.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "scenarios/scenario.h")"));
    EXPECT_FALSE(include_of("// #include would be here").has_value());
}

/// The kernel is free of the domain: outside comments it has no word for chips or collectives.
TEST(Kernel, has_no_words_of_the_domain) {
    const std::vector<std::string> words{"yaml",   "chip",  "torus",       "tpu",  "collective",
                                         "tensor", "model", "transformer", "pcie", "dcn"};
    const std::vector<std::string> found = violations("sim", [&](const std::string& line) {
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
