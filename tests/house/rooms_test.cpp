// Files are small; rooms are on the map and have tests of the same name.
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

/// Returns the folders that hold source files.
std::set<std::string> rooms_of(const std::string& folder) {
    std::set<std::string> rooms;
    for (const SourceFile& file : source_files(folder)) {
        rooms.insert(std::filesystem::path(file.path).parent_path().generic_string());
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
    for (const std::string& room : rooms_of(GetParam().folder)) {
        EXPECT_TRUE(floor_of(GetParam(), room + "/file.h")) << room << " is no room of the table";
    }
}

TEST_P(RoomRule, has_at_most_12_rooms) {
    std::size_t rooms = 0;
    for (const std::vector<std::string>& floor : GetParam().floors) {
        rooms += floor.size();
    }
    EXPECT_LE(rooms, 12U);
}

/// docs/map.md has a row for each room, `| [`room`](../room) | what it holds |`, with a `=` for
/// rooms beside each other.
TEST_P(RoomRule, is_on_the_map) {
    const std::filesystem::path top(source_folder());
    const std::vector<std::string> map = read_lines(top / "docs/map.md");
    for (const std::vector<std::string>& floor : GetParam().floors) {
        for (const std::string& room : floor) {
            const std::string path = GetParam().folder + '/' + room;
            const std::string row = "| [`" + path + "`](../" + path + ") ";
            EXPECT_EQ(std::ranges::count_if(
                          map, [&](const std::string& line) { return line.starts_with(row); }),
                      1)
                << row;
        }
    }
}

TEST_P(RoomRule, is_mirrored_by_its_tests) {
    const Layer& layer = GetParam();
    for (const SourceFile& file : source_files(layer.tests)) {
        if (file.path.ends_with("_test.cpp")) {
            EXPECT_TRUE(floor_of(layer, layer.folder + file.path.substr(layer.tests.size())))
                << file.path << " is of no room";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Folders, RoomRule, testing::ValuesIn(layers()), [](const auto& layer) {
    return layer.param.tests.substr(std::string("tests/").size());
});

TEST(Builder, has_no_class_of_more_than_25_functions) {
    std::size_t classes = 0;
    for (const SourceFile& file : source_files("workloads/step")) {
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
