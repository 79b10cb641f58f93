// `mpirun -n N podsim sweep`: the bytes of one process, whatever the number of ranks and threads.
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/study/small_sweep.h"

namespace podsim::scenarios {
namespace {

class SweepUnderMpirun : public CommandTest {
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

    /// The exit status; standard output and error in the files `out` and `err`.
    int sweep(const std::string& before, const std::string& scenario, const std::string& more) {
        const std::string command = fmt::format(
            "cd '{}' && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
            "OMPI_MCA_rmaps_base_oversubscribe=1 ASAN_OPTIONS=detect_leaks=0 {} '{}' sweep {} "
            "--vary training.remat=block,none --vary batch.tokens=32Ki,3Ki,64Ki {} >out 2>err",
            path("."), before, program_path(), scenario, more);
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

TEST_F(SweepUnderMpirun, WritesWhatOneProcessWrites) {
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

TEST_F(SweepUnderMpirun, SaysAnErrorOnce) {
    EXPECT_EQ(sweep("mpirun -n 4", "none.yaml", ""), 2);
    const std::string said = text("err");
    const std::string problem = "none.yaml: cannot read the file";
    EXPECT_NE(said.find(problem), std::string::npos) << said;
    EXPECT_EQ(said.find(problem), said.rfind(problem)) << said;
}

}  // namespace
}  // namespace podsim::scenarios
