// The layer rule of CONTRIBUTING.md, counted over every #include line: the exceptions are 0.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/checkout.h"
#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

/// What a code folder may include: of the project (path prefixes) and of the libraries (prefixes of
/// what stands in <>; the standard library has no slash and no suffix). Its own files always.
struct Layer {
    std::string folder;
    std::vector<std::string> project;
    std::vector<std::string> libraries;
    /// The rooms, floor by floor: a room includes its own files and rooms of floors before its own.
    std::vector<std::vector<std::string>> floors;

    friend std::ostream& operator<<(std::ostream& out, const Layer& layer) {
        return out << layer.folder;
    }
};

const std::vector<Layer>& layers() {
    static const std::vector<Layer> all{
        {"sim", {}, {}, {{"base"}, {"queue", "workload"}, {"state"}, {"reuse"}, {"executor"}}},
        {"topology", {"sim/base/"}, {"boost/", "fmt/"}, {{"lattice"}, {"chips", "graph", "mesh"}}},
        {"collectives",
         {"sim/base/", "sim/workload/", "topology/"},
         {"fmt/"},
         {{"vocabulary"}, {"paths"}, {"algorithms"}, {"catalogue"}}},
        // A step is built from units, the machine's shape and the words for collectives. Link
        // servers, events and schedules are not its business.
        {"workloads",
         {"sim/base/", "topology/", "collectives/vocabulary/", "collectives/catalogue/bounds.h"},
         {"fmt/", "nlohmann/"},
         {{"models"},
          {"program"},
          {"plan"},
          {"work", "analytic"},
          {"chain"},
          {"builder"},
          {"layers"},
          {"step"}}},
        {"scenarios",
         {"sim/", "topology/", "collectives/", "workloads/"},
         {"Eigen/", "boost/", "fmt/", "nlohmann/", "oneapi/", "unistd.h", "unsupported/Eigen/",
          "yaml-cpp/"},
         {{"text", "spec"},
          {"yaml", "lower"},
          {"load", "run"},
          {"explain"},
          {"simulate"},
          {"report"},
          {"study"},
          {"cli"}}},
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

/// The floor of a file or an included path, `folder/room/file`; nothing where it is in no room.
std::optional<std::size_t> floor_of(const Layer& layer, std::string_view path) {
    const std::filesystem::path room = std::filesystem::path(path).parent_path();
    for (std::size_t floor = 0; floor < layer.floors.size(); ++floor) {
        for (const std::string& name : layer.floors[floor]) {
            if (room == std::filesystem::path(layer.folder) / name) {
                return floor;
            }
        }
    }
    return std::nullopt;
}

/// Whether a file of a folder may include a file of that folder.
bool room_allows(const Layer& layer, const std::string& from, const std::string& name) {
    if (std::filesystem::path(from).parent_path() == std::filesystem::path(name).parent_path()) {
        return true;
    }
    const std::optional<std::size_t> here = floor_of(layer, from);
    const std::optional<std::size_t> there = floor_of(layer, name);
    return here && there && *there < *here;
}

TEST_P(LayerRule, includes_only_rooms_of_floors_before) {
    const Layer& layer = GetParam();
    std::vector<std::string> found;
    for (const SourceFile& file : source_files(layer.folder)) {
        for (const std::string& line : file.lines) {
            const std::optional<Include> include = include_of(line);
            if (include && include->quoted && include->name.starts_with(layer.folder + '/') &&
                !room_allows(layer, file.path, include->name)) {
                found.push_back(file.path + ": " + include->name);
            }
        }
    }
    EXPECT_EQ(found.size(), 0U) << "includes against the order of rooms:" << joined(found);
}

/// The stems of a room's source files: a header and its source are one.
std::map<std::string, std::set<std::string>> stems_by_room(const std::string& folder) {
    std::map<std::string, std::set<std::string>> rooms;
    for (const SourceFile& file : source_files(folder)) {
        const std::filesystem::path path(file.path);
        rooms[path.parent_path().generic_string()].insert(path.stem().generic_string());
    }
    return rooms;
}

TEST_P(LayerRule, keeps_every_file_in_a_room_of_16_stems_and_2000_lines) {
    const Layer& layer = GetParam();
    for (const auto& [room, stems] : stems_by_room(layer.folder)) {
        EXPECT_TRUE(floor_of(layer, room + "/file.h")) << room << " is no room of the table";
        if (room != "collectives/algorithms") {  // each file there stands alone
            EXPECT_LE(stems.size(), 16U) << room;
        }
    }
    std::map<std::string, std::size_t> lines;
    for (const SourceFile& file : source_files(layer.folder)) {
        lines[std::filesystem::path(file.path).parent_path().generic_string()] += file.lines.size();
    }
    for (const auto& [room, count] : lines) {
        if (room != "collectives/algorithms") {
            EXPECT_LE(count, 2100U) << room;
        }
    }
}

TEST_P(LayerRule, has_a_page_of_3_to_6_lines_in_every_room) {
    const std::filesystem::path top(source_folder());
    for (const auto& floor : GetParam().floors) {
        for (const std::string& room : floor) {
            const std::filesystem::path page = top / GetParam().folder / room / "README.md";
            ASSERT_TRUE(std::filesystem::exists(page)) << page;
            std::vector<std::string> lines = read_lines(page);
            std::erase_if(lines, [](const std::string& line) { return line.empty(); });
            EXPECT_GE(lines.size(), 3U) << page;
            EXPECT_LE(lines.size(), 7U) << page;  // and its title
        }
    }
}

/// Tests mirror rooms: what is not shared by a folder's tests stands in a room's name.
TEST_P(LayerRule, is_mirrored_by_its_tests) {
    const Layer& layer = GetParam();
    for (const SourceFile& file : source_files("tests/" + layer.folder)) {
        if (file.path.ends_with("_test.cpp")) {
            EXPECT_TRUE(floor_of(layer, file.path.substr(std::string("tests/").size())))
                << file.path << " is of no room";
        }
    }
}

TEST(Names, are_given_once) {
    std::map<std::string, std::set<std::string>> places;
    for (const std::string folder :
         {"sim", "topology", "collectives", "workloads", "scenarios", "tests", "bench"}) {
        for (const auto& [room, stems] : stems_by_room(folder)) {
            for (const std::string& stem : stems) {
                places[stem].insert(room);
            }
        }
    }
    for (const auto& [stem, rooms] : places) {
        EXPECT_EQ(rooms.size(), 1U)
            << stem << " in " << *rooms.begin() << " and " << *rooms.rbegin();
    }
}

/// Reads a line as the rule does: the test must see what it forbids.
TEST(LayerRuleItself, refuses_what_it_should) {
    const Layer& sim = layers().front();
    const Layer& workloads = layers()[3];
    const auto ok = [](const Layer& layer, const std::string& line) {
        return allowed(layer, include_of(line).value());
    };
    EXPECT_TRUE(ok(sim, R"(#include "sim/base/time.h")"));
    EXPECT_TRUE(ok(sim, "#include <vector>"));
    EXPECT_FALSE(ok(sim, R"(#include "topology/chips/chip.h")"));
    EXPECT_FALSE(ok(sim, "#include <yaml-cpp/yaml.h>"));
    EXPECT_FALSE(ok(sim, "  #  include \"tests/house/source_files.h\"  // why"));
    EXPECT_TRUE(ok(workloads, R"(#include "collectives/vocabulary/operation.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "collectives/algorithms/collective_schedule.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "sim/queue/event_queue.h")"));
    EXPECT_FALSE(ok(workloads, R"(#include "scenarios/spec/scenario.h")"));
    EXPECT_FALSE(include_of("// #include would be here").has_value());
}

TEST(LayerRuleItself, knows_the_order_of_rooms) {
    const Layer& sim = layers().front();
    EXPECT_TRUE(room_allows(sim, "sim/state/run_state.h", "sim/base/time.h"));
    EXPECT_TRUE(room_allows(sim, "sim/state/run_state.h", "sim/state/link_servers.h"));
    EXPECT_FALSE(room_allows(sim, "sim/base/time.h", "sim/state/run_state.h"));
    EXPECT_FALSE(room_allows(sim, "sim/queue/event.h", "sim/workload/machine.h"));
    EXPECT_FALSE(room_allows(sim, "sim/state/run_state.h", "sim/time.h"));
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
