// README.md shows what the program prints: the quick start is run and compared line by line.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

constexpr const char* kQuickstart = "scenarios/quickstart/llama3-70b-v5p-pod.yaml";
constexpr const char* kRemedy =
    "README.md does not show what the program prints; when the new output is right, run: make "
    "readme";

struct Output {
    std::vector<std::string> lines;
    int status = 0;
};

/// Runs the program in the top folder; standard output in lines.
Output run_program(const std::string& arguments) {
    const std::string command = std::string("cd '") + PODSIM_SOURCE_DIR + "' && '" +
                                PODSIM_PROGRAM + "' " + arguments + " </dev/null";
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error("cannot start " + command);
    }
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
        text += static_cast<char>(c);
    }
    Output run;
    run.status = pclose(pipe);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        run.lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return run;
}

/// The only part of a report that differs from run to run: the number before "s wall time".
std::string without_wall_time(const std::string& line) {
    const std::size_t end = line.find(" s wall time");
    if (end == std::string::npos || end == 0) {
        return line;
    }
    const std::size_t before = line.find_last_not_of("0123456789.", end - 1);
    return line.substr(0, before == std::string::npos ? 0 : before + 1) + '#' + line.substr(end);
}

/// The lines of README.md between two lines.
std::vector<std::string> readme_block(const std::string& begin, const std::string& end) {
    const std::vector<std::string> lines =
        read_lines(std::filesystem::path(PODSIM_SOURCE_DIR) / "README.md");
    const auto first = std::ranges::find(lines, begin);
    const auto last = std::find(first, lines.end(), end);
    if (last == lines.end()) {
        throw std::runtime_error("README.md lacks a block from " + begin + " to " + end);
    }
    return {first + 1, last};
}

/// Without the fence of the code block.
std::vector<std::string> quickstart_block() {
    std::vector<std::string> block =
        readme_block("<!-- quickstart:begin -->", "<!-- quickstart:end -->");
    std::erase_if(block, [](const std::string& line) { return line.starts_with("```"); });
    return block;
}

TEST(Readme, shows_the_real_output_of_the_quick_start) {
    const Output run = run_program(std::string("run ") + kQuickstart);
    ASSERT_EQ(run.status, 0) << "podsim run " << kQuickstart << " failed";
    const std::vector<std::string> block = quickstart_block();
    for (std::size_t i = 0; i < std::min(block.size(), run.lines.size()); ++i) {
        ASSERT_EQ(without_wall_time(block[i]), without_wall_time(run.lines[i]))
            << "line " << i + 1 << " of the block\n"
            << kRemedy;
    }
    ASSERT_EQ(block.size(), run.lines.size()) << kRemedy;
}

TEST(Readme, shows_a_scenario_that_runs) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) / "podsim_readme_scenario.yaml";
    {
        std::ofstream out(file);
        for (const std::string& line : readme_block("```yaml", "```")) {
            out << line << '\n';
        }
    }
    const Output run = run_program("run '" + file.string() + "'");
    std::filesystem::remove(file);
    EXPECT_EQ(run.status, 0) << "the scenario in README.md does not run, or its expectation fails";
}

TEST(Readme, masks_the_wall_time_only) {
    EXPECT_EQ(
        without_wall_time("simulated 4 chips, 12 events of which 7 played, 0.012 s wall time"),
        "simulated 4 chips, 12 events of which 7 played, # s wall time");
    EXPECT_EQ(without_wall_time("Step time 2.345 s"), "Step time 2.345 s");
}

}  // namespace
}  // namespace podsim::house
