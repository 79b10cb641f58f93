// README.md, docs/ and scenarios/book/README.md show what the program prints: it is run and compared line
// by line.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/checkout.h"
#include "tests/house/source_files.h"

namespace podsim::house {
namespace {

/// A block of a page and what the program prints there.
struct Shown {
    std::string page;
    std::string marker;
    std::string arguments;
};

const Shown kShown[] = {
    {"README.md", "quickstart", "run scenarios/quickstart/llama3-70b-v5p-pod.yaml"},
    {"docs/inference.md", "pareto",
     "sweep scenarios/examples/llama3-70b-decode-v5e.yaml --vary inference.context=2048,8192,32768 "
     "--vary inference.batch=1,32,64,120,240"},
    {"docs/inference.md", "serve", "serve scenarios/examples/serve-llama3-8b-v5e.yaml"},
    {"docs/fidelity.md", "published", "compare scenarios/published"},
    {"docs/fidelity.md", "blind", "compare scenarios/blind"},
    {"docs/fidelity.md", "rows", "compare scenarios/other-rows"},
    {"docs/fidelity.md", "calibrate",
     "calibrate scenarios/published --per-chip mxu,straggler,mxu_8bit --pooled gather"},
    {"scenarios/book/README.md", "book", "compare scenarios/book"},
};

struct Output {
    std::vector<std::string> lines;
    int status = 0;
};

/// Runs the program in the top folder; standard output in lines.
Output run_program(const std::string& arguments) {
    const std::string command = std::string("cd '") + source_folder() + "' && '" + program_path() +
                                "' " + arguments + " </dev/null";
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

/// The only parts of a report that differ from run to run: the numbers before "s wall time".
std::string without_wall_time(std::string line) {
    const std::string what = " s wall time";
    for (std::size_t end = line.find(what); end != std::string::npos;) {
        std::size_t begin = end;
        while (begin > 0 && std::string("0123456789.").find(line[begin - 1]) != std::string::npos) {
            --begin;
        }
        line.replace(begin, end - begin, "#");
        end = line.find(what, begin + 1 + what.size());
    }
    return line;
}

/// The lines of a page between two lines.
std::vector<std::string> block_of(const std::string& page, const std::string& begin,
                                  const std::string& end) {
    const std::vector<std::string> lines =
        read_lines(std::filesystem::path(source_folder()) / page);
    const auto first = std::ranges::find(lines, begin);
    const auto last = std::find(first, lines.end(), end);
    if (last == lines.end()) {
        throw std::runtime_error(page + " lacks a block from " + begin + " to " + end);
    }
    return {first + 1, last};
}

/// Without the fence of the code block.
std::vector<std::string> shown_block(const Shown& shown) {
    std::vector<std::string> block = block_of(shown.page, "<!-- " + shown.marker + ":begin -->",
                                              "<!-- " + shown.marker + ":end -->");
    std::erase_if(block, [](const std::string& line) { return line.starts_with("```"); });
    return block;
}

class PageTest : public testing::TestWithParam<Shown> {};

TEST_P(PageTest, shows_what_the_program_prints) {
    const Shown& shown = GetParam();
    // Two minutes, in `make properties`: it follows from the steps that `compare scenarios/published` shows line by line.
    if (shown.marker == "calibrate" && std::getenv("PODSIM_WHOLE_PAGES") == nullptr) {
        GTEST_SKIP();
    }
    const std::string remedy = shown.page +
                               " does not show what the program prints; when the new output is "
                               "right, run: make readme";
    const Output run = run_program(shown.arguments);
    ASSERT_EQ(run.status, 0) << "podsim " << shown.arguments << " failed";
    const std::vector<std::string> block = shown_block(shown);
    for (std::size_t i = 0; i < std::min(block.size(), run.lines.size()); ++i) {
        ASSERT_EQ(without_wall_time(block[i]), without_wall_time(run.lines[i]))
            << "line " << i + 1 << " of the block\n"
            << remedy;
    }
    ASSERT_EQ(block.size(), run.lines.size()) << remedy;
}

/// The commands of the tutorial, each with the block behind it.
std::vector<Shown> tutorial() {
    std::vector<Shown> shown;
    std::string command;
    for (const std::string& line :
         read_lines(std::filesystem::path(source_folder()) / "docs/tutorial.md")) {
        const std::string program = "    podsim ";
        const std::string begin = "<!-- ";
        const std::size_t end = line.find(":begin -->");
        if (line.starts_with(program)) {
            command = line.substr(program.size());
        } else if (line.starts_with(begin) && end != std::string::npos) {
            shown.push_back(
                {"docs/tutorial.md", line.substr(begin.size(), end - begin.size()), command});
        }
    }
    return shown;
}

INSTANTIATE_TEST_SUITE_P(Tutorial, PageTest, testing::ValuesIn(tutorial()),
                         [](const auto& shown) { return shown.param.marker; });

TEST(Tutorial, has_its_five_questions) {
    EXPECT_EQ(tutorial().size(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Pages, PageTest, testing::ValuesIn(kShown),
                         [](const auto& shown) { return shown.param.marker; });

TEST(Readme, shows_a_scenario_that_runs) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) / "podsim_readme_scenario.yaml";
    {
        std::ofstream out(file);
        for (const std::string& line : block_of("README.md", "```yaml", "```")) {
            out << line << '\n';
        }
    }
    const Output run = run_program("run '" + file.string() + "'");
    std::filesystem::remove(file);
    EXPECT_EQ(run.status, 0) << "the scenario in README.md does not run, or its expectation fails";
}

// The table of README.md, of an AllGather of 1 GB.
TEST(Readme, shows_how_near_the_bound_collectives_are) {
    const std::string shares = "\"bound_over_simulated\": ";
    int rows = 0;
    for (const std::string& line : block_of("README.md", "| slice | bound / simulated |", "")) {
        if (line.starts_with("|---")) {
            continue;
        }
        const std::size_t bar = line.find(" | ");
        ASSERT_NE(bar, std::string::npos) << line;
        const std::string slice = line.substr(2, bar - 2);
        const Output run = run_program("collective --chip v5p --slice " + slice +
                                       " --op all-gather --axes xyz --bytes 1e9 --json -");
        ASSERT_EQ(run.status, 0) << slice;
        for (const std::string& said : run.lines) {
            if (const std::size_t at = said.find(shares); at != std::string::npos) {
                EXPECT_NEAR(std::stod(line.substr(bar + 3)),
                            std::stod(said.substr(at + shares.size())), 0.5e-4)
                    << slice;
                ++rows;
            }
        }
    }
    EXPECT_EQ(rows, 7);
}

TEST(Readme, masks_the_wall_time_only) {
    EXPECT_EQ(
        without_wall_time("simulated 4 chips, 12 events of which 7 played, 0.012 s wall time, "
                          "explained in another 0.3 s wall time"),
        "simulated 4 chips, 12 events of which 7 played, # s wall time, "
        "explained in another # s wall time");
    EXPECT_EQ(without_wall_time("Step time 2.345 s"), "Step time 2.345 s");
}

}  // namespace
}  // namespace podsim::house
