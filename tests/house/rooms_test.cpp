// Files are small, rooms have a page each and are mirrored by their tests; file names are given once.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/checkout.h"
#include "tests/house/class_size.h"
#include "tests/house/layer_table.h"
#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

constexpr std::size_t kMostFileLines = 399;
constexpr std::size_t kMostFunctions = 25;

/// The stems of each room: a header and its source are one.
std::map<std::string, std::set<std::string>> rooms_of(const std::string& folder) {
    std::map<std::string, std::set<std::string>> rooms;
    for (const SourceFile& file : source_files(folder)) {
        const std::filesystem::path path(file.path);
        rooms[path.parent_path().generic_string()].insert(path.stem().generic_string());
    }
    return rooms;
}

class RoomRule : public testing::TestWithParam<Layer> {};

TEST_P(RoomRule, keeps_source_files_below_400_lines) {
    for (const SourceFile& file : source_files(GetParam().folder)) {
        EXPECT_LE(file.lines.size(), kMostFileLines) << file.path;
    }
}

TEST_P(RoomRule, keeps_every_file_in_a_room_of_the_table) {
    for (const auto& [room, stems] : rooms_of(GetParam().folder)) {
        EXPECT_TRUE(floor_of(GetParam(), room + "/file.h")) << room << " is no room of the table";
    }
}

/// A title and 3 to 6 lines, empty ones not counted.
TEST_P(RoomRule, has_a_page_of_3_to_6_lines_in_every_room) {
    const std::filesystem::path top(source_folder());
    for (const std::vector<std::string>& floor : GetParam().floors) {
        for (const std::string& room : floor) {
            const std::filesystem::path page = top / GetParam().folder / room / "README.md";
            if (!std::filesystem::exists(page)) {
                ADD_FAILURE() << page << " is missing";
                continue;
            }
            std::vector<std::string> lines = read_lines(page);
            std::erase_if(lines, [](const std::string& line) { return line.empty(); });
            EXPECT_TRUE(!lines.empty() && lines.front().starts_with("# "))
                << page << " has no title";
            EXPECT_GE(lines.size(), 1U + 3U) << page;
            EXPECT_LE(lines.size(), 1U + 6U) << page;
        }
    }
}

TEST_P(RoomRule, is_mirrored_by_its_tests) {
    for (const SourceFile& file : source_files("tests/" + GetParam().folder)) {
        if (file.path.ends_with("_test.cpp")) {
            EXPECT_TRUE(floor_of(GetParam(), file.path.substr(std::string("tests/").size())))
                << file.path << " is of no room";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Folders, RoomRule, testing::ValuesIn(layers()),
                         [](const auto& layer) { return layer.param.folder; });

TEST(Names, are_given_once) {
    std::map<std::string, std::set<std::string>> places;
    for (const std::string folder :
         {"sim", "topology", "collectives", "workloads", "scenarios", "tests", "bench"}) {
        for (const auto& [room, stems] : rooms_of(folder)) {
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

TEST(Builder, has_no_class_of_more_than_25_functions) {
    std::size_t classes = 0;
    for (const SourceFile& file : source_files("workloads/builder")) {
        for (const auto& [name, functions] : functions_of_classes(file.lines)) {
            ++classes;
            EXPECT_LE(functions.size(), kMostFunctions)
                << file.path << " " << name << joined(functions);
        }
    }
    EXPECT_GT(classes, 3U) << "the classes are not found";
}

TEST(ClassSize, counts_functions_of_each_class) {
    const std::vector<std::string> lines{
        "/// A class (in words) { of text }",
        "class Chain final : public Base<int> {",
        "public:",
        "    explicit Chain(int n);  // makes (it)",
        "    [[nodiscard]] int size() const { return call(n_); }",
        "    void add(int first,",
        "             int second = f(3));",
        "    struct Inner {",
        "        bool operator()(int a) const;",
        "        int value = f(2);",
        "    };",
        "    static constexpr int kMost = most(4);",
        "private:",
        "    int n_ = 0;",
        "    std::vector<int> all_{};",
        "};",
        "int free(int);",
        "enum class Kind { a, b };",
        "class Forward;",
    };
    const std::map<std::string, std::vector<std::string>> found = functions_of_classes(lines);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found.at("Chain").size(), 3U) << joined(found.at("Chain"));
    EXPECT_EQ(found.at("Inner").size(), 1U) << joined(found.at("Inner"));
}

}  // namespace
}  // namespace podsim::house
