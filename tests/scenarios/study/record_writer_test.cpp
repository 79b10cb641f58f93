// A record has one writer: others get a message that names it, whatever they would do to the file.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/src/base/whole_file.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

using RecordWriter = CommandTest;
using small_sweep::kSmall;
using small_sweep::text_of;

TEST_F(RecordWriter, ARecordHasOneWriter) {
    const std::string file = write(kSmall);
    const std::vector<std::string> args = {
        "sweep", file, "--vary", "batch.tokens=32Ki,64Ki", "--jsonl", path("r.jsonl")};
    write("", "r.jsonl");
    std::filesystem::create_hard_link(path("r.jsonl"), path("hard.jsonl"));
    std::filesystem::create_symlink("r.jsonl", path("soft.jsonl"));
    {
        const RecordLock other(path("r.jsonl"), "sweep");
        char host[256] = {};
        ::gethostname(host, sizeof host - 1);
        for (const char* const name : {"r.jsonl", "hard.jsonl", "soft.jsonl"}) {
            const Outcome outcome =
                podsim({"sweep", file, "--vary", "batch.tokens=32Ki,64Ki", "--jsonl", path(name)});
            EXPECT_EQ(outcome.status, 2);
            EXPECT_EQ(outcome.out, "");
            EXPECT_EQ(plain(outcome.err),
                      name + std::string(": another sweep writes this record: process ") +
                          std::to_string(::getpid()) + " on " + host +
                          "; wait for its end, or give --jsonl another path\n");
            EXPECT_EQ(text_of(path("r.jsonl")), "");
            const Outcome replacing = podsim({"run", file, "--no-explain", "--json", path(name)});
            EXPECT_EQ(replacing.status, 2);
            EXPECT_THAT(replacing.err,
                        ::testing::EndsWith("; wait for its end, or give --json another path\n"));
            EXPECT_EQ(text_of(path("r.jsonl")), "");
        }
    }
    EXPECT_EQ(podsim(args).status, 0);
    EXPECT_EQ(std::ranges::count(text_of(path("r.jsonl")), '\n'), 2);
}

TEST_F(RecordWriter, ASearchIsToldOfASearch) {
    const std::string file = write(kSmall);
    write("", "r.jsonl");
    const RecordLock other(path("r.jsonl"), "search");
    const Outcome outcome = podsim({"search", file, "--over", "remat", "--jsonl", path("r.jsonl")});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(plain(outcome.err),
                ::testing::StartsWith("r.jsonl: another search writes this record: process "));
}

TEST_F(RecordWriter, AKilledWriterHoldsNothing) {
    write("", "r.jsonl");
    const pid_t child = ::fork();
    if (child == 0) {
        const RecordLock lock(path("r.jsonl"), "sweep");
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_NO_THROW(RecordLock(path("r.jsonl"), "sweep"));
}

}  // namespace
}  // namespace podsim::scenarios
