// Traces of the library's scenarios, as readers of Chromium's format take them: no slice begins
// before its predecessor on its track has ended. Perfetto's importer rounds ts and dur separately
// to whole nanoseconds (google/perfetto @ec5d16b, json_trace_tokenizer.cc, CoerceToTs); Chrome's
// adds them as doubles.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/report/event_file.h"
#include "scenarios/src/report/program_timeline.h"
#include "scenarios/src/report/step_timeline.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"

namespace podsim::scenarios {
namespace {

/// Reads trace events as they are written, one per line, and keeps the end of each track so far.
class EventReader : public std::streambuf {
public:
    std::size_t slices = 0;
    std::size_t overlaps_in_perfetto = 0;
    std::size_t overlaps_in_chrome = 0;
    std::size_t before_the_view = 0;  ///< events at 0, which Chrome leaves out of its bounds

protected:
    int overflow(int letter) override {
        const char one = static_cast<char>(letter);
        xsputn(&one, 1);
        return letter;
    }
    std::streamsize xsputn(const char* text, std::streamsize count) override {
        for (const char letter : std::string_view(text, static_cast<std::size_t>(count))) {
            if (letter == '\n') {
                read();
                line_.clear();
            } else {
                line_ += letter;
            }
        }
        return count;
    }

private:
    struct Ends {
        std::int64_t perfetto = 0;
        double chrome = 0;
    };

    [[nodiscard]] double number(std::string_view key) const {
        const std::size_t at = line_.find(key);
        double value = -1;
        if (at != std::string::npos) {
            std::from_chars(line_.data() + at + key.size(), line_.data() + line_.size(), value);
        }
        return value;
    }

    static std::int64_t coerced(double microseconds) {
        return microseconds == std::trunc(microseconds)
                   ? static_cast<std::int64_t>(microseconds) * 1000
                   : std::llround(microseconds * 1000);
    }

    void read() {
        const double ts = number(R"("ts":)");
        before_the_view += ts == 0 ? 1 : 0;
        if (line_.find(R"("ph":"X")") == std::string::npos) {
            return;
        }
        const double dur = number(R"("dur":)");
        Ends& ends = ends_[static_cast<std::int64_t>(number(R"("tid":)"))];
        overlaps_in_perfetto += coerced(ts) < ends.perfetto ? 1 : 0;
        overlaps_in_chrome += ts < ends.chrome ? 1 : 0;
        ends = {coerced(ts) + coerced(dur), ts + dur};
        ++slices;
    }

    std::string line_;
    std::map<std::int64_t, Ends> ends_;
};

// Proves that the test below can fail: two slices of a quick start in an older form, and one at 0.
TEST(TraceReader, SeesAnOverlap) {
    EventReader reader;
    std::ostream out(&reader);
    out << R"({"ph":"X","pid":1,"tid":1001,"ts":0,"dur":0.1,"args":{}},)" << '\n'
        << R"({"ph":"X","pid":1,"tid":1001,"ts":5741.380623,"dur":222.217566,"args":{}},)" << '\n'
        << R"({"ph":"X","pid":1,"tid":1002,"ts":5963.597,"dur":1,"args":{}},)" << '\n'
        << R"({"ph":"X","pid":1,"tid":1001,"ts":5963.598189,"dur":1,"args":{}},)" << '\n'
        << R"({"ph":"X","pid":1,"tid":1001,"ts":5963.6,"dur":1,"args":{}},)" << '\n';
    EXPECT_EQ(reader.slices, 5U);
    EXPECT_EQ(reader.overlaps_in_perfetto, 2U);
    EXPECT_EQ(reader.overlaps_in_chrome, 1U);
    EXPECT_EQ(reader.before_the_view, 1U);
}

/// True for a load of a server, which has no trace.
bool is_served(const std::filesystem::path& file) {
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("serving:")) {
            return true;
        }
    }
    return false;
}

/// Returns files of steps and programs, in order of their names.
std::vector<std::string> library() {
    std::vector<std::string> files;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(source_folder() + "/scenarios")) {
        if (entry.path().extension() == ".yaml" && !is_served(entry.path())) {
            files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    return files;
}

/// A subset of the library: with PODSIM_WHOLE_LIBRARY=1 every kParts-th file, otherwise a sixteenth
/// of those.
constexpr std::size_t kParts = 8;
constexpr std::size_t kSixteenth = 16;
class LibraryTraces : public testing::TestWithParam<std::size_t> {};

TEST_P(LibraryTraces, NoSliceOverlapsItsPredecessor) {
    const std::vector<std::string> files = library();
    ASSERT_GT(files.size(), 400U);
    const std::size_t step =
        kParts * (std::getenv("PODSIM_WHOLE_LIBRARY") == nullptr ? kSixteenth : 1);
    for (std::size_t i = GetParam(); i < files.size(); i += step) {
        SCOPED_TRACE(files[i]);
        const Scenario scenario = load_scenario(files[i]);
        EventReader reader;
        std::ostream out(&reader);
        TraceEvents events(out, scenario.name);
        if (scenario.is_program()) {
            tell_program(scenario,
                         simulate_program(scenario.hardware, scenario.program(), Fold::automatic),
                         events);
        } else {
            const StepResult result =
                simulate_step(scenario, Fold::automatic, {.explain = false, .keep_trail = true});
            tell_step(scenario, *result.trail, Detail::steady, events);
        }
        events.finish();
        EXPECT_GT(reader.slices, 0U);
        EXPECT_EQ(reader.overlaps_in_perfetto, 0U);
        EXPECT_EQ(reader.overlaps_in_chrome, 0U);
        EXPECT_EQ(reader.before_the_view, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Parts, LibraryTraces, testing::Range(std::size_t{0}, kParts));

}  // namespace
}  // namespace podsim::scenarios
