// `mpirun -n N podsim sweep` and `search`: the bytes of one process, for any number of ranks
// and threads.
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/wait.h>

#include "scenarios/src/base/joined_ranks.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

class UnderMpirun : public CommandTest {
protected:
    void SetUp() override {
        CommandTest::SetUp();
        const auto program = std::filesystem::path(program_path());
        if (!std::filesystem::exists(program.parent_path() / "podsim_mpi.so")) {
            GTEST_SKIP() << "podsim was built without MPI";
        }
        write(small_sweep::kSmall);
    }

    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        std::ostringstream all;
        all << file.rdbuf();
        return std::move(all).str();
    }

    /// Returns the exit status; standard output and error go to the files `out` and `err`.
    int run(const std::string& before, const std::string& arguments) {
        return run_program(program_path(), before, arguments);
    }
    int run_program(const std::string& program, const std::string& before,
                    const std::string& arguments) {
        const std::string command = fmt::format(
            "cd '{}' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
            "OMPI_MCA_rmaps_base_oversubscribe=1 ASAN_OPTIONS=detect_leaks=0 {} '{}' {} >out 2>err",
            path("."), before, program, arguments);
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    int sweep(const std::string& before, const std::string& scenario, const std::string& more) {
        return run(before, fmt::format("sweep {} --vary training.remat=block,none --vary "
                                       "batch.tokens=32Ki,3Ki,64Ki {}",
                                       scenario, more));
    }
};

TEST_F(UnderMpirun, WritesWhatOneProcessWrites) {
    ASSERT_EQ(sweep("", "s.yaml", "--jsonl one"), 0) << text("err");
    const std::string one = text("one");
    const std::string table = text("out");
    for (const char* ranks : {"1", "2", "4"}) {
        for (const char* jobs : {"1", "2"}) {
            SCOPED_TRACE(fmt::format("{} ranks, {} jobs", ranks, jobs));
            // The record of a run that was killed in its second line.
            std::ofstream(path("many"), std::ios::binary) << one.substr(0, one.find('\n') + 20);
            EXPECT_EQ(sweep(fmt::format("mpirun -n {}", ranks), "s.yaml",
                            fmt::format("--jobs {} --jsonl many", jobs)),
                      0);
            EXPECT_EQ(text("many"), one);
            EXPECT_EQ(text("out"), table);
        }
    }
}

// Plans with rings between segments of matmuls, which are bounded later, and settings of which one
// is refused.
TEST_F(UnderMpirun, SearchesAsOneProcess) {
    const std::string arguments =
        "search s.yaml --over mesh,overlap --vary batch.tokens=32Ki,3Ki,64Ki --json -";
    ASSERT_EQ(run("", arguments), 0) << text("err");
    const std::string one = text("out");
    for (const char* ranks : {"2", "4"}) {
        SCOPED_TRACE(ranks);
        std::filesystem::remove(path("record"));
        EXPECT_EQ(run(fmt::format("mpirun -n {}", ranks), arguments + " --jobs 1 --jsonl record"),
                  0)
            << text("err");
        EXPECT_EQ(text("out"), one);
        EXPECT_NE(text("record"), "");
    }
    EXPECT_EQ(run("mpirun -n 2", "search none.yaml --over mesh"), 2);
    EXPECT_EQ(text("err").find("none.yaml"), text("err").rfind("none.yaml")) << text("err");
}

/// The work of each of two ranks: sends the other messages longer than MPI buffers, before it
/// receives any.
void exchange_long_messages() {
    const auto module = std::filesystem::path(program_path()).parent_path() / "podsim_mpi.so";
    void* const loaded = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
    ASSERT_NE(loaded, nullptr) << dlerror();
    const std::unique_ptr<Ranks> ranks(reinterpret_cast<JoinRanks>(dlsym(loaded, kJoinName))());
    ASSERT_EQ(ranks->size(), 2);
    const auto text = [](int from, std::size_t number) {
        return std::string((1U << 20U) + number, static_cast<char>('a' + from));
    };
    constexpr std::size_t kMessages = 3;
    const int other = 1 - ranks->rank();
    for (std::size_t number = 0; number < kMessages; ++number) {
        ranks->send(other, text(ranks->rank(), number));
    }
    for (std::size_t number = 0; number < kMessages;) {
        if (const std::optional<Message> message = ranks->receive()) {
            EXPECT_EQ(message->from, other);
            EXPECT_EQ(message->text, text(other, number++));
        }
    }
}

// Two ranks that each wait for the other to receive would wait forever: a search's work items and
// results may be that long.
TEST_F(UnderMpirun, RanksMaySendLongMessagesAtOnce) {
    if (launch().size == 2) {
        exchange_long_messages();
        return;
    }
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    EXPECT_EQ(
        run_program(self, "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX timeout 120 mpirun -n 2",
                    "--gtest_filter=UnderMpirun.RanksMaySendLongMessagesAtOnce"),
        0)
        << text("out") << text("err");
}

TEST_F(UnderMpirun, TellsVersionAndHelpsOnce) {
    for (const std::string arguments :
         {"--version", "-h", "sweep --help", "run --help", "help mesh"}) {
        ASSERT_EQ(run("", arguments), 0) << arguments << text("err");
        const std::string one = text("out");
        EXPECT_NE(one, "") << arguments;
        EXPECT_EQ(run("mpirun -n 2", arguments), 0) << arguments << text("err");
        EXPECT_EQ(text("out"), one) << arguments;
        EXPECT_EQ(text("err"), "") << arguments;
    }
    EXPECT_EQ(run("mpirun -n 2", "list chips"), 2);
    const std::string problem =
        "podsim list: only sweep and search run on several ranks; start this command without "
        "mpirun";
    EXPECT_NE(text("err").find(problem), std::string::npos) << text("err");
}

TEST_F(UnderMpirun, SaysAnErrorOnce) {
    EXPECT_EQ(sweep("mpirun -n 4", "none.yaml", ""), 2);
    const std::string said = text("err");
    const std::string problem = "none.yaml: cannot read the file";
    EXPECT_NE(said.find(problem), std::string::npos) << said;
    EXPECT_EQ(said.find(problem), said.rfind(problem)) << said;
}

}  // namespace
}  // namespace podsim::scenarios
