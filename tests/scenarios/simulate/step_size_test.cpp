// The size of a step before it is built, and the refusal of one that does not fit into memory.

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/step_programs.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kPipelined =
    "hardware: {chip: v5p, slice: 4x4x4}\n"
    "model: llama-3-8b\n"
    "batch: {tokens: 6400Mi, sequence: 4096}\n"
    "mesh: {pipeline: z, fsdp: x y}\n"
    "training: {microbatches: 100000}\n";

class StepSizeTest : public CommandTest {
protected:
    [[nodiscard]] Scenario with(std::vector<std::string> settings) const {
        return load_scenario(ScenarioSource{path("s.yaml")}, settings, Requests::any);
    }
    /// Returns the error of a process of its own: the limit applies to the process.
    [[nodiscard]] std::string error_of(const std::string& command) const {
        const std::string line =
            fmt::format("cd '{}' && '{}' {} >out 2>err", path("."), program_path(), command);
        const int status = std::system(line.c_str());
        EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2) << command;
        std::ifstream file(path("err"));
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

// Each further microbatch adds the same operations, for any schedule: an extrapolation from two
// small steps is exact.
TEST_F(StepSizeTest, GrowsEvenlyWithMicrobatches) {
    write(kPipelined);
    for (const std::string schedule : {"gpipe", "1f1b", "zero_bubble"}) {
        SCOPED_TRACE(schedule);
        const Scenario scenario =
            with({"training.microbatches=400", "training.schedule=" + schedule});
        double built = 0;
        for (const auto& program : build_step_of(scenario).programs.programs) {
            built += static_cast<double>(program.ops.size());
        }
        EXPECT_EQ(size_of_step(scenario).operations(), built);
    }
    // Few microbatches have no estimate: 4 stages x 8 x 4 = 128 is the first number that has one.
    EXPECT_EQ(size_of_step(with({"training.microbatches=127"})).operations(), 0);
    EXPECT_GT(size_of_step(with({"training.microbatches=128"})).operations(), 0);
}

TEST_F(StepSizeTest, IsRefusedWhereMemoryCannotHoldIt) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer knows no limit of memory";
#endif
    write(kPipelined);
    // The run takes 28 MB and 4 + 694 x 100000 operations of 1600 bytes; 2 GB have room for
    // floor(((2e9 - 28e6) / 1600 - 4) / 694) = 1775 microbatches.
    EXPECT_EQ(
        error_of("run s.yaml --memory 2GB"),
        "s.yaml: a step of 100000 microbatches is some 6.94e+07 operations, whose run takes up to "
        "111.1 GB of memory; podsim may take 2.000 GB; use at most 1775 microbatches, or give more "
        "with --memory\n");
    EXPECT_EQ(error_of("run s.yaml --memory 1MB"),
              "--memory 1MB: too little for any command; give 256 MB or more\n");
    EXPECT_EQ(error_of("run s.yaml --memory=much"),
              "--memory much: 'much' is not a size; write a size such as 64 MiB; units: B, kB, MB, "
              "GB, TB, PB, KiB, MiB, GiB, TiB\n");
}

}  // namespace
}  // namespace podsim::scenarios
