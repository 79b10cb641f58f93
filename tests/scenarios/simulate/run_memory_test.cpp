// The predicted memory of a run, and the message if it is not available.
#include "scenarios/src/simulate/run_memory.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/base/threads.h"
#include "scenarios/src/cli/check.h"
#include "scenarios/src/cli/common_options.h"
#include "scenarios/src/scenario/scenario_files.h"
#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

/// Returns two positions of one role, which sends over one link and over two.
sim::Workload small_workload() {
    sim::Schedule schedule;
    schedule.roles.push_back({.first_transfer = 0, .transfer_count = 2, .arrivals = 2});
    schedule.transfers.resize(2);
    schedule.transfers[0].hop_count = 1;
    schedule.transfers[1].hop_count = 2;
    schedule.transfers[1].needs = 3;  // the start and two others
    schedule.hops.resize(3);
    schedule.successors = {1};
    schedule.role_of_place = {0, 0};
    sim::Workload workload;
    workload.machine.places = 2;
    workload.machine.ports = 3;
    workload.machine.links.resize(6);
    workload.schedules = {schedule};
    workload.operations = {{}};
    workload.graphs = {{.tasks = std::vector<sim::Task>(5)}};
    workload.graphs[0].tasks[4].operation = 0;
    workload.graphs[0].tasks[4].after = {1, 2, 3};
    workload.graph_of_place = {0, 0};
    return workload;
}

TEST(RunMemory, IsCountedFromTheWorkload) {
    const RunMemory memory = memory_of_run(small_workload());
    EXPECT_EQ(memory.operations, 5 * 1600 + 3 * 16);
    EXPECT_EQ(memory.messages, 2 * 170 + 3 * 16 + 1 * 30);
    // These are tasks, messages in flight, links, the operation with a counter at each position,
    // and the schedules' data of every position.
    const double under_way = 2 * (16 + 1);
    EXPECT_EQ(memory.places, 2 * 5 * 16 + 2 * (3 + 16) + 6 * 560 + under_way + 2 * 8);
    EXPECT_EQ(memory.bytes(), 28e6 + memory.operations + memory.messages + memory.places);
    EXPECT_EQ(memory_of_record(1000), 140e3);
}

/// Reuse remembers five of the layers that may repeat: their ended tasks, and the operations of six
/// layers as they were at each of the five.
TEST(RunMemory, CountsWhatIsRememberedOfLayers) {
    sim::Workload workload = small_workload();
    const double once = memory_of_run(workload).places;
    workload.graphs[0].marks = {0};
    EXPECT_EQ(memory_of_run(workload).places, once + 2 * 5 * 24 + 5 * 2 * (16 + 1));
    // One task per layer, the operation in the fifth.
    workload.graphs[0].tasks.resize(9);
    workload.graphs[0].marks = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_EQ(memory_of_run(workload).places, once + 2 * (4 * 16 + 5 * 24) + 5 * 2 * (16 + 1));
}

/// No scenario of the library is refused, at the smallest limit of podsim.
TEST(RunMemory, OfTheLibraryIsLessThanTheLeastLimit) {
    int checked = 0;
    for (const char* const folder : {"/scenarios/examples", "/scenarios/book",
                                     "/scenarios/quickstart", "/scenarios/published"}) {
        for (const std::string& file : scenario_files(source_folder() + folder)) {
            SCOPED_TRACE(file);
            const Checked one = check(file, {});
            ASSERT_TRUE(one.errors.empty());
            if (one.size) {
                EXPECT_LT(one.size->most_memory_bytes, kLeastMemory);
                ++checked;
            }
        }
    }
    EXPECT_GT(checked, 200);
}

class RunMemoryLimit : public CommandTest {
protected:
    void SetUp() override {
        CommandTest::SetUp();
#ifdef __SANITIZE_ADDRESS__
        GTEST_SKIP() << "AddressSanitizer knows no limit of memory";
#endif
    }
    /// Runs a process of its own: the limit applies to the process.
    Outcome process(const std::string& arguments) {
        const std::string line =
            fmt::format("cd '{}' && '{}' {} >out 2>err", path("."), program_path(), arguments);
        const int status = std::system(line.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
    }

    [[nodiscard]] std::string read(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

constexpr const char* kPipeline =
    "hardware: {chip: v5p, slice: 4x4x4}\n"
    "model: llama-3-8b\n"
    "batch: {tokens: 16Mi, sequence: 4096}\n"
    "mesh: {pipeline: z, fsdp: x y}\n"
    "training: {microbatches: 240}\n";

/// A run needs no more than predicted: 1600 bytes for each of 166564 operations, and little else.
TEST_F(RunMemoryLimit, IsAsMuchAsARunNeeds) {
    write(kPipeline);
    const Checked checked = check(path("s.yaml"), {});
    ASSERT_TRUE(checked.errors.empty()) << checked.errors.front().what();
    EXPECT_GT(checked.size->most_memory_bytes, kLeastMemory);
    const Outcome outcome = process(fmt::format("run s.yaml --no-explain --memory {:.0f}B",
                                                checked.size->most_memory_bytes + 1));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
}

// Thread stacks count towards the limit: 256 MB have room for eight.
TEST_F(RunMemoryLimit, HasRoomForSoManyThreads) {
    write(std::string(kGood));
    const Outcome outcome =
        process("sweep s.yaml --vary training.remat=none,full --jobs 64 --memory 256MB");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const MemoryLimit limit(256e6);
    EXPECT_EQ(threads_with_room(), 8);
}

// `ulimit -v` limits the address space, as job schedulers do. The step is simulated; its
// explanation takes several times the memory.
TEST_F(RunMemoryLimit, CountsTheAddressSpace) {
    write(kGood);
    const auto limited = [&](int kilobytes, const std::string& more) {
        const std::string line =
            fmt::format("cd '{}' && ulimit -v {} && '{}' run s.yaml {} >out 2>err", path("."),
                        kilobytes, program_path(), more);
        const int status = std::system(line.c_str());
        return Outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
    };
    const Outcome little = limited(70'000, "--no-explain");  // about 20 MB more than at the start
    EXPECT_TRUE(little.status == 0 || little.status == 2) << little.status << little.err;
    const Outcome step = limited(150'000, "--no-explain");
    EXPECT_EQ(step.status, 0) << step.err;
    EXPECT_THAT(step.out, ::testing::HasSubstr("\nStep time "));
    const Outcome explained = limited(150'000, "");
    EXPECT_EQ(explained.status, 0) << explained.err;
    EXPECT_THAT(explained.out, ::testing::HasSubstr("\nStep time "));
}

TEST_F(RunMemoryLimit, IsSaidByCheck) {
    const auto json =
        nlohmann::json::parse(podsim({"check", write(kGood), "--json", "-"}).out)["scenarios"][0];
    const Checked checked = check(path("s.yaml"), {});
    EXPECT_EQ(json["most_run_memory_bytes"], checked.size->most_memory_bytes);
    EXPECT_THAT(podsim({"check", path("s.yaml")}).out,
                HasSubstr(fmt::format(" and {} of memory to run\n",
                                      format_bytes(sim::Bytes(checked.size->most_memory_bytes)))));
}

// The trial of an algorithm makes messages by the million, before the step's own are known.
TEST_F(RunMemoryLimit, EndsWhereMemoryDoes) {
    const std::string quick_start =
        source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml";
    const Outcome outcome = process(fmt::format(
        "run '{}' --set hardware.message_cap=6KiB --no-explain --memory 256MB", quick_start));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              quick_start +
                  ": out of memory: podsim may take 256.0 MB; give more with --memory, or fewer "
                  "--jobs; or make the step smaller, with fewer microbatches or a larger "
                  "hardware.message_cap\n");
}

// Equal chips are simulated once, unless every one is requested.
TEST_F(RunMemoryLimit, RefusesPlaces) {
    const std::string file =
        source_folder() + "/scenarios/published/mlperf-v5p/mlperf4.0-v5p-3072.yaml";
    const Outcome outcome =
        process(fmt::format("run '{}' --fold off --no-explain --memory 256MB", file));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              file +
                  ": the run takes up to 523.3 MB of memory: 26.25 MB for operations, 230.1 kB for "
                  "messages, 468.8 MB for what every simulated chip has; podsim may take 256.0 MB; "
                  "leave out --fold off, or give more with --memory\n");
    EXPECT_EQ(process(fmt::format("run '{}' --no-explain --memory 256MB", file)).status, 0);
}

TEST_F(RunMemoryLimit, RefusesOperations) {
    write(kPipeline);
    const Outcome outcome = process("run s.yaml --no-explain --memory 256MB");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err,
              "s.yaml: a step of 240 microbatches is some 1.67e+05 operations, whose run takes up "
              "to 294.5 MB of memory; podsim may take 256.0 MB; use at most 205 microbatches, or "
              "give more with --memory\n");
}

// The step is done, but its explanation would need too much memory.
TEST_F(RunMemoryLimit, LeavesTheExplanationOut) {
    const std::string file = source_folder() + "/scenarios/book/ex7.5.yaml";
    const Outcome outcome = process("run '" + file + "' --no-reuse --memory 256MB");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    // The run takes 28 MB and its own memory, and the record 140 bytes for each event.
    EXPECT_THAT(
        outcome.out,
        HasSubstr("Gap and critical path left out: they keep what 2119552 events did, up to "
                  "330.7 MB of memory; --memory gives more\n"));
    const Outcome traced =
        process("run '" + file + "' --no-reuse --no-explain --memory 256MB --trace t.json");
    EXPECT_EQ(traced.status, 2);
    EXPECT_EQ(
        traced.err,
        file +
            ": a timeline of 2119552 played events takes up to 330.7 MB of memory; podsim may "
            "take 256.0 MB; leave out --trace and --report, or give more with --memory\n");
}

}  // namespace
}  // namespace podsim::scenarios
