// Traces in files.
#include "scenarios/src/report/event_file.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>

#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "sim/base/error.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class EventFile : public CommandTest {};

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void tell_a_track(TimelineSink& sink) {
    sink.process({.name = "a chip", .end = {}});
    sink.track({TrackKind::ops, "XLA Ops"});
}

TEST_F(EventFile, IsCompressedWhereItsNameEndsInGz) {
    write_event_file(path("t.json"), "one", tell_a_track);
    write_event_file(path("t.json.gz"), "one", tell_a_track);
    const std::string packed = bytes_of(path("t.json.gz"));
    ASSERT_GT(packed.size(), 18U);
    EXPECT_EQ(packed.substr(0, 2), "\x1f\x8b");
    EXPECT_EQ(packed.substr(4, 4), std::string(4, '\0')) << "the same bytes at any time";
    std::istringstream file(packed);
    boost::iostreams::filtering_istream in;
    in.push(boost::iostreams::gzip_decompressor());
    in.push(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), bytes_of(path("t.json")));
}

TEST_F(EventFile, ThatDoesNotArriveIsAnError) {
    const auto refusal = [](const std::string& path) {
        try {
            write_event_file(path, "one", [](TimelineSink& sink) {
                for (int i = 0; i < 100'000; ++i) {
                    tell_a_track(sink);
                }
            });
        } catch (const sim::InputError& error) {
            return std::string(error.what());
        }
        return std::string("written");
    };
    EXPECT_EQ(refusal("/dev/full"),
              "cannot write '/dev/full': No space left on device; give --trace "
              "a path that can be written");
    EXPECT_EQ(refusal(path("no/t.json")),
              "cannot write '" + path("no/t.json") +
                  "': No such file or directory; give --trace a path that can be written");
    std::filesystem::create_symlink("/dev/full", path("full.gz"));
    EXPECT_EQ(refusal(path("full.gz")),
              "cannot write '" + path("full.gz") +
                  "': No space left on device; give --trace a path that can be written");
}

}  // namespace
}  // namespace podsim::scenarios
