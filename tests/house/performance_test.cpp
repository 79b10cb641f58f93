// docs/performance.md shows bench/results.json: its tables
// are made again and compared, and so are its links.
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

#include "tests/checkout.h"
#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

const std::filesystem::path kTop(source_folder());

TEST(Performance, page_shows_the_recorded_results) {
    const std::string command = "'" + (kTop / "bench/performance.py").string() + "' check";
    EXPECT_EQ(std::system(command.c_str()), 0)
        << "run: make bench-docs";  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
}

/// Results name no machine, host or path.
TEST(Performance, results_name_no_machine) {
    for (const std::string& line : read_lines(kTop / "bench/results.json")) {
        for (const char* word : {"host_name", "executable", "/podsim"}) {
            EXPECT_EQ(line.find(word), std::string::npos) << line;
        }
    }
}

TEST(Performance, plots_are_there) {
    int plots = 0;
    for (const std::string& line : read_lines(kTop / "docs/performance.md")) {
        if (line.starts_with("![")) {
            const std::size_t begin = line.find("](") + 2;
            EXPECT_TRUE(std::filesystem::exists(kTop / "docs" /
                                                line.substr(begin, line.find(')', begin) - begin)))
                << line;
            ++plots;
        }
    }
    EXPECT_EQ(plots, 2);
}

}  // namespace
}  // namespace podsim::house
