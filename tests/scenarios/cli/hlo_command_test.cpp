// `podsim hlo`: times computed by hand, compared with the same collective alone; messages.
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/checkout.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using SortedJson = nlohmann::json;

class HloCommand : public CommandTest {
protected:
    SortedJson ran(const std::string& text, std::vector<std::string> more) {
        std::vector<std::string> args{"hlo",       "run",    write(text, "module.txt"),
                                      "--profile", "ideal",  "--hbm",
                                      "private",   "--json", "-"};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.status == 0 ? SortedJson::parse(outcome.out) : SortedJson();
    }

    double collective(std::vector<std::string> args) {
        args.insert(args.begin(), "collective");
        args.insert(args.end(), {"--hbm", "private", "--json", "-"});
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return SortedJson::parse(outcome.out)["simulated_s"].get<double>();
    }

    std::string error_of(std::vector<std::string> args) {
        args.insert(args.begin(), "hlo");
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.out, "");
        return outcome.err;
    }
};

/// Returns one collective of f32[size] among 64 devices.
std::string lone(const std::string& result, const std::string& operand, const std::string& opcode,
                 const std::string& who) {
    return fmt::format(
        "ENTRY %m (a: {0}) -> {1} {{\n %a = {0} parameter(0)\n ROOT %c = {1} {2}(%a), {3}\n}}\n",
        operand, result, opcode, who);
}

// A lone operation takes the time of `podsim collective`: 16777216 floats are 67108864 bytes.
TEST_F(HloCommand, CollectivesTakeWhatTheyTakeAlone) {
    const std::vector<std::string> slice{"--chip", "v5p", "--slice", "4x4x4"};
    const auto alone = [&](const std::string& op, const std::string& axes) {
        return collective({"--chip", "v5p", "--slice", "4x4x4", "--op", op, "--axes", axes,
                           "--bytes", "67108864"});
    };
    const std::string full = "f32[16777216]";
    EXPECT_EQ(
        ran(lone(full, "f32[262144]", "all-gather", "dimensions={0}, replica_groups=[1,64]<=[64]"),
            slice)["step_time_s"],
        alone("all-gather", "xyz"));
    EXPECT_EQ(
        ran(lone(full, full, "all-reduce", "replica_groups=[16,4]<=[64]"), slice)["step_time_s"],
        alone("all-reduce", "z"));
    // Strides 16 to 64 of a mesh over x y z are the first axis.
    EXPECT_EQ(ran(lone(full, full, "all-reduce", "replica_groups=[16,4]<=[4,16]T(1,0)"),
                  {"--chip", "v5p", "--slice", "4x4x4", "--mesh", "all: x y z"})["step_time_s"],
              alone("all-reduce", "x"));
    EXPECT_EQ(ran(lone("f32[4194304]", full, "reduce-scatter",
                       "dimensions={0}, replica_groups=[16,4]<=[64]"),
                  slice)["step_time_s"],
              alone("reduce-scatter", "z"));
    // For an AllToAll V is the total of all members: 64 x 1048576 bytes.
    EXPECT_EQ(ran(lone("f32[262144]", "f32[262144]", "all-to-all",
                       "dimensions={0}, replica_groups=[1,64]<=[64]"),
                  slice)["step_time_s"],
              alone("all-to-all", "xyz"));
}

// A permute to the next rank along z, 4 members of 262144 floats. A shift by two is one between the
// two members of `z/2`.
TEST_F(HloCommand, PermutesShiftAlongTheirAxis) {
    for (const int shift : {1, 2, 3}) {
        std::string pairs;
        for (int from = 0; from < 64; ++from) {
            pairs += fmt::format("{}{{{},{}}}", pairs.empty() ? "" : ",", from,
                                 from / 4 * 4 + (from + shift) % 4);
        }
        const SortedJson result =
            ran(lone("f32[262144]", "f32[262144]", "collective-permute",
                     "source_target_pairs={" + pairs + "}"),
                {"--chip", "v5p", "--slice", "4x4x4", "--mesh", "all: x y z"});
        EXPECT_EQ(result["step_time_s"],
                  collective({"--chip", "v5p", "--slice", "4x4x4", "--op", "permute", "--axes",
                              shift == 2 ? "z/2" : "z", "--shift",
                              shift == 2 ? "1" : std::to_string(shift), "--bytes",
                              shift == 2 ? "2097152" : "4194304"}));
    }
}

// Shifts by 1 and by 3 along a ring of 8 have the same members and bytes but different bounds; one
// after the other they take both.
TEST_F(HloCommand, EachShiftHasItsOwnBound) {
    std::string text =
        "ENTRY %m (a: f32[262144]) -> f32[262144] {\n %a = f32[262144] parameter(0)\n";
    double bounds = 0;
    for (const int shift : {1, 3}) {
        std::string pairs;
        for (int from = 0; from < 128; ++from) {
            pairs += fmt::format("{}{{{},{}}}", pairs.empty() ? "" : ",", from,
                                 from / 8 * 8 + (from + shift) % 8);
        }
        text +=
            fmt::format(" %p{} = f32[262144] collective-permute(%{}), source_target_pairs={{{}}}\n",
                        shift, shift == 1 ? "a" : "p1", pairs);
        const Outcome alone =
            podsim({"collective", "--chip", "v5p", "--slice", "4x4x8", "--op", "permute", "--axes",
                    "z", "--shift", std::to_string(shift), "--bytes", "8388608", "--json", "-"});
        bounds += SortedJson::parse(alone.out)["physical_bound_s"].get<double>();
    }
    const SortedJson result =
        ran(text + "}\n", {"--chip", "v5p", "--slice", "4x4x8", "--mesh", "all: x y z"});
    EXPECT_DOUBLE_EQ(result["analytic"]["roofline_serial_s"].get<double>(), bounds);
    // Segments of 1 MiB cross one link and three, over two links of z per chip.
    EXPECT_EQ(result["bound"], "ici z");
    EXPECT_DOUBLE_EQ(result["analytic"]["roofline_lower_s"].get<double>(), 4 * 1048576 / 180e9);
}

// A shift to the next of all 64 carries over to the next axis for some chips. Chips then do not
// move alike, and none stands for another.
TEST_F(HloCommand, APermuteThatCarriesOver) {
    std::string pairs;
    for (int from = 0; from < 64; ++from) {
        pairs += fmt::format("{}{{{},{}}}", pairs.empty() ? "" : ",", from, (from + 1) % 64);
    }
    const std::string text = lone("f32[262144]", "f32[262144]", "collective-permute",
                                  "source_target_pairs={" + pairs + "}");
    const double alone = collective({"--chip", "v5p", "--slice", "4x4x4", "--op", "permute",
                                     "--axes", "xyz", "--bytes", "67108864"});
    for (const char* const fold : {"auto", "off"}) {
        EXPECT_EQ(ran(text, {"--chip", "v5p", "--slice", "4x4x4", "--fold", fold})["step_time_s"],
                  alone);
    }
}

constexpr const char* kMatmul = "dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}";

// 2 x 8192^3 FLOPs at 459e12 a second, rounded up to a picosecond; five times.
TEST_F(HloCommand, MatmulsTakeTheirFlopsAndLoopsGoRound) {
    const std::string once = fmt::format(
        "ENTRY %m (x: bf16[8192,8192]) -> bf16[8192,8192] {{\n %x = bf16[8192,8192] parameter(0)\n "
        "ROOT %d = bf16[8192,8192] {}\n}}\n",
        kMatmul);
    const double exact = 2.0 * 8192 * 8192 * 8192 / 459e12;
    const SortedJson result = ran(once, {"--chip", "v5p", "--slice", "1x1x1"});
    EXPECT_NEAR(result["step_time_s"].get<double>(), exact, 1e-12);
    EXPECT_NEAR(result["hfu"].get<double>(), 1, 1e-9);
    const std::string looped = fmt::format(R"(
%t (p: (s32[], bf16[8192,8192])) -> pred[] {{
  %p = (s32[], bf16[8192,8192]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(5)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}}
%b (p: (s32[], bf16[8192,8192])) -> (s32[], bf16[8192,8192]) {{
  %p = (s32[], bf16[8192,8192]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %x = bf16[8192,8192] get-tuple-element(%p), index=1
  %d = bf16[8192,8192] {}
  ROOT %r = (s32[], bf16[8192,8192]) tuple(%j, %d)
}}
ENTRY %m (x: bf16[8192,8192]) -> bf16[8192,8192] {{
  %x = bf16[8192,8192] parameter(0)
  %zero = s32[] constant(0)
  %u = (s32[], bf16[8192,8192]) tuple(%zero, %x)
  %w = (s32[], bf16[8192,8192]) while(%u), condition=%t, body=%b
  ROOT %y = bf16[8192,8192] get-tuple-element(%w), index=1
}}
)",
                                           kMatmul);
    const SortedJson five = ran(looped, {"--chip", "v5p", "--slice", "1x1x1"});
    EXPECT_NEAR(five["step_time_s"].get<double>(), 5 * result["step_time_s"].get<double>(), 1e-15);
    EXPECT_EQ(five["kernels"][0]["runs"], 5);
}

// A gather hides beside a matmul: the step is the longer of the two; without a window it is their
// sum. Folded or on every chip.
TEST_F(HloCommand, WhatIsAsynchronousHides) {
    const auto step = [](bool hides) {
        return fmt::format(
                   "HloModule m, is_scheduled=true\nENTRY %m (x: bf16[8192,8192], w: "
                   "bf16[128,8192]) -> "
                   "bf16[8192,8192] {{\n %x = bf16[8192,8192] parameter(0)\n %w = bf16[128,8192] "
                   "parameter(1)\n %s = (bf16[128,8192], bf16[8192,8192]) all-gather-start(%w), "
                   "replica_groups=[1,64]<=[64], dimensions={{0}}\n{}{} ROOT %r = bf16[8192,8192] "
                   "copy(%x)\n}}\n",
                   hides ? std::string(" %d = bf16[8192,8192] ") + kMatmul + "\n" : "",
                   " %e = bf16[8192,8192] all-gather-done(%s)\n") +
               "";
    };
    const std::vector<std::string> slice{"--chip", "v5p", "--slice", "4x4x4"};
    const SortedJson alone = ran(step(false), slice);
    const SortedJson hidden = ran(step(true), slice);
    const double gather = collective({"--chip", "v5p", "--slice", "4x4x4", "--op", "all-gather",
                                      "--axes", "xyz", "--bytes", "134217728"});
    const double matmul = 2.0 * 8192 * 8192 * 8192 / 459e12;
    const double copy = alone["step_time_s"].get<double>() - gather;
    EXPECT_GT(copy, 0);
    ASSERT_GT(matmul, gather);
    EXPECT_NEAR(hidden["step_time_s"].get<double>(), matmul + copy, 2e-12);
    const SortedJson unfolded =
        ran(step(true), {"--chip", "v5p", "--slice", "4x4x4", "--fold", "off"});
    EXPECT_EQ(unfolded["step_time_s"], hidden["step_time_s"]);
    EXPECT_EQ(unfolded["simulated_chips"], 64);
}

// In the module of the documentation all gathers hide except the first, of 8192 x 28672 weights.
// The matmuls of 32 layers are 32 x 2 x 2 x 2048 x 8192 x 28672 FLOPs.
TEST_F(HloCommand, TheExampleWaitsForItsFirstGather) {
    const Outcome outcome =
        podsim({"hlo", "run", source_folder() + "/scenarios/examples/fsdp-mlp.hlo", "--chip", "v5p",
                "--slice", "4x4x4", "--profile", "ideal", "--hbm", "private", "--json", "-"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const SortedJson result = SortedJson::parse(outcome.out);
    EXPECT_EQ(result["executed_flops"], 64.0 * 2 * 2048 * 8192 * 28672);
    EXPECT_EQ(result["exposed_communication_s"],
              collective({"--chip", "v5p", "--slice", "4x4x4", "--op", "all-gather", "--axes",
                          "xyz", "--bytes", "469762048"}));
    ASSERT_EQ(result["collectives"].size(), 3U);
    EXPECT_EQ(result["collectives"][0]["name"], "first");
    EXPECT_EQ(result["collectives"][0]["exposed_s"], result["exposed_communication_s"]);
    EXPECT_EQ(result["collectives"][1]["exposed_s"], 0);
    EXPECT_EQ(result["collectives"][1]["runs"], 32);
    EXPECT_NEAR(result["step_time_s"].get<double>(),
                result["compute_s"].get<double>() + result["exposed_communication_s"].get<double>(),
                1e-15);
}

TEST_F(HloCommand, Messages) {
    const std::string file = write(
        lone("f32[64]", "f32[1]", "all-gather", "dimensions={0}, replica_groups=[1,64]<=[64]"),
        "m.txt");
    EXPECT_EQ(error_of({}), "podsim hlo: nothing to do; usage: podsim hlo stats|run FILE\n");
    EXPECT_EQ(error_of({"rnu", file}),
              "podsim hlo: unknown action 'rnu'; did you mean 'run'? allowed: stats, run\n");
    EXPECT_EQ(error_of({"stats"}), "podsim hlo: no module; usage: podsim hlo stats FILE\n");
    EXPECT_THAT(error_of({"stats", path("gone.txt")}), HasSubstr("gone.txt"));
    EXPECT_EQ(
        error_of({"run", file, "--chip", "v5p", "--slice", "4x4x8"}),
        file +
            ":1:1: the module runs on 64 devices, the slice has 128 chips; give a slice of as "
            "many chips; --devices says how many there are where the module does not\n");
    EXPECT_THAT(error_of({"run", file}), HasSubstr("--chip"));
    EXPECT_EQ(
        error_of({"run", file, "--chip", "v5p", "--slice", "4x4x4", "--mesh", "a: 3, b: 7"}),
        "podsim hlo: the mesh a 3 x b 7 has 21 members, but slice 4x4x4 has 64 chips; choose sizes "
        "that multiply to 64\n");
    EXPECT_EQ(
        error_of({"run", file, "--chip", "v5p", "--slice", "4x4x4", "--mesh", "a"}),
        "--mesh a: 'a' is no axis; write `data: 4, fsdp: 16`, or factors: `data: x, fsdp: y z`\n");
    EXPECT_EQ(error_of({"stats", file, "--devices", "8"}),
              "--devices 8: out of range; the module names device 63; up to 100000 are allowed\n");
    EXPECT_EQ(error_of({"stats", file, "--flops", "gmm"}), "--flops gmm: no NAME=VALUE\n");
    // A chip without measurements runs ideally, unless measured factors are requested.
    EXPECT_EQ(podsim({"hlo", "run", file, "--chip", "v3", "--slice", "8x8"}).status, 0);
    EXPECT_EQ(error_of({"run", file, "--chip", "v3", "--slice", "8x8", "--profile", "measured"}),
              "--profile measured: nothing was measured on v3; take --profile ideal\n");
    for (const char* const option : {"--trace", "--mesh", "--chip"}) {
        EXPECT_EQ(error_of({"stats", file, option, "v5p"}),
                  std::string(option) +
                      ": is for `podsim hlo run`; leave it out of `podsim hlo stats`\n");
    }
    EXPECT_FALSE(std::filesystem::exists("v5p"));
    const std::string binary = write("HloModule\x01", "binary.txt");
    EXPECT_EQ(error_of({"stats", binary}),
              binary +
                  ":1:10: the character \\x01 is not text; dump the module as text: "
                  "compiled.as_text()\n");
}

// A run that cannot be is refused at the module, or at the instruction that is to blame, with a
// remedy for users of modules.
TEST_F(HloCommand, RunsThatCannotBe) {
    const auto refused = [&](const std::string& text) {
        const std::string file = write(text, "m.txt");
        const std::string error = error_of({"run", file, "--chip", "v5p", "--slice", "4x4x4"});
        EXPECT_TRUE(error.starts_with(file)) << error;
        return error.substr(std::min(file.size(), error.size()));
    };
    const std::string header = "HloModule m, num_partitions=64\n";
    EXPECT_EQ(refused(header + lone("f32[40000000000000]", "f32[40000000000000]", "all-reduce",
                                    "replica_groups=[1,64]<=[64]")),
              ":4:7: the collectives of this step, up to 'c', would be cut into more than 20 "
              "million messages of at most 4.194e+06 bytes; lower the module for smaller arrays\n");
    const auto squares = [&](const std::string& side, const std::string& times) {
        return fmt::format(
            "{0}b {{\n p = bf16[{1},{1}] parameter(0)\n ROOT d = bf16[{1},{1}] dot(p, p), "
            "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\nt {{\n p = bf16[{1},{1}] "
            "parameter(0)\n ROOT c = pred[] constant(true)\n}}\nENTRY e {{\n p = bf16[{1},{1}] "
            "parameter(0)\n ROOT w = bf16[{1},{1}] while(p), condition=t, body=b, "
            "backend_config={{\"known_trip_count\":{{\"n\":\"{2}\"}}}}\n}}\n",
            header, side, times);
    };
    const std::string late =
        ": the simulated time exceeds 106 days (2^63 ps); give a module of less work, or of fewer "
        "iterations with --trips\n";
    EXPECT_EQ(refused(squares("100000000", "1")), ":4:7" + late);
    EXPECT_EQ(refused(squares("1000000", "10000")), ":1:1" + late);
    EXPECT_EQ(error_of({"stats", "/dev/zero"}),
              "/dev/zero: the file is larger than 256 MiB; give the text of one module\n");
}

// 64 devices of tpu7x are 32 chips. On 64 chips a device stands for a whole chip, and a note
// says so.
TEST_F(HloCommand, SaysWhereADeviceIsTakenForAChip) {
    const std::string file = write(
        lone("f32[64]", "f32[1]", "all-gather", "dimensions={0}, replica_groups=[1,64]<=[64]"),
        "m.txt");
    const std::string note =
        "       a device of the module is taken for a whole chip, though JAX shows each of tpu7x's "
        "2 "
        "cores as one\n";
    EXPECT_THAT(podsim({"hlo", "run", file, "--chip", "tpu7x", "--slice", "4x4x4"}).out,
                HasSubstr(note));
    EXPECT_THAT(podsim({"hlo", "run", file, "--chip", "v5p", "--slice", "4x4x4"}).out,
                ::testing::Not(HasSubstr(note)));
    EXPECT_EQ(error_of({"run", file, "--chip", "tpu7x", "--slice", "4x4x2"}),
              file +
                  ":1:1: the module runs on 64 devices, the slice has 32 chips; podsim plays one "
                  "device a chip: lower the module for whole chips\n");
}

// The bytes count; a note says that nothing else is known.
TEST_F(HloCommand, SaysOfWhichInstructionsOnlyTheBytesAreKnown) {
    const std::string file = write(lone("f32[64]", "f32[64]", "cholesky", "lower=true"), "m.txt");
    const SortedJson json = SortedJson::parse(podsim({"hlo", "stats", file, "--json", "-"}).out);
    EXPECT_EQ(json["unknown_opcodes"], SortedJson({{"cholesky", 1}}));
    EXPECT_EQ(json["hbm_bytes"], 512);
    EXPECT_THAT(podsim({"hlo", "stats", file}).out,
                HasSubstr("instruction cholesky: 1, of which only the bytes are known\n"));
    EXPECT_THAT(podsim({"hlo", "run", file, "--chip", "v5e", "--slice", "1x1"}).out,
                HasSubstr("note: of instructions cholesky only the bytes are known\n"));
}

TEST_F(HloCommand, Stats) {
    const std::string file = write(
        lone("f32[64]", "f32[1]", "all-gather", "dimensions={0}, replica_groups=[1,64]<=[64]"),
        "m.txt");
    const SortedJson json = SortedJson::parse(podsim({"hlo", "stats", file, "--json", "-"}).out);
    EXPECT_EQ(json["schema"], "podsim/2");
    EXPECT_EQ(json["devices"], 64);
    EXPECT_EQ(json["collectives"][0]["op"], "all-gather");
    EXPECT_EQ(json["collectives"][0]["result_bytes"], 256);
    EXPECT_EQ(json["collectives"][0]["received_bytes"], 252);
    EXPECT_THAT(podsim({"hlo", "stats", file}).out,
                HasSubstr("all-gather  [1,64]<=[64]     1  256.0 B            252.0 B"));
}

}  // namespace
}  // namespace podsim::scenarios
