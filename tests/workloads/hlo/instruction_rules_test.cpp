// Instructions that break the rules of XLA's shapes are refused at their lines.
#include "workloads/hlo/instruction_rules.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

constexpr const char* kBegin =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
    "ENTRY e {\n p = f32[8,4] parameter(0)\n t = (f32[8]{0}, (s32[], f32[2])) parameter(1)\n";

/// Returns the error of a module whose line 9 this is.
std::string wrong(const std::string& line, const std::string& header = {}) {
    try {
        read_module(header + kBegin + " " + line + "\n}\n", "m");
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

using Lines = std::vector<std::pair<std::string, std::string>>;

void expect_wrong(const Lines& lines) {
    for (const auto& [line, problem] : lines) {
        EXPECT_EQ(wrong(line), problem.empty() ? "none" : "m:9:2: 'x': " + problem) << line;
    }
}

// Regressions: without an index it was element 0, of an array the array, and any shape was taken.
TEST(HloInstructionRules, ElementsOfTuples) {
    expect_wrong({
        {"x = f32[8]{0:T(8)} get-tuple-element(t), index=0", ""},
        {"x = (s32[], f32[2]) get-tuple-element(t), index=1", ""},
        {"x = (s32[], f32[2]) get-tuple-element(t), index=1  // the second", ""},
        {"x = f32[8] get-tuple-element(t)", "a get-tuple-element without an index"},
        {"x = f32[8] get-tuple-element(t), index=1x", "index=1x, which is no whole number"},
        {"x = f32[8] get-tuple-element(t), index=", "index=, which is no whole number"},
        {"x = f32[8] get-tuple-element(t), index=2", "element 2 of a tuple of 2"},
        {"x = f32[8] get-tuple-element(t), index=-1", "element -1 of a tuple of 2"},
        {"x = f32[8,4] get-tuple-element(p), index=0", "a get-tuple-element of what is no tuple"},
        {"x = f32[9] get-tuple-element(t), index=0", "its shape is not that of element 0"},
        {"x = s32[8] get-tuple-element(t), index=0", "its shape is not that of element 0"},
        {"x = (s32[], f32[3]) get-tuple-element(t), index=1", "its shape is not that of element 1"},
    });
}

TEST(HloInstructionRules, TuplesOfTheirOperands) {
    const std::string other = "a tuple of another shape than its operands";
    expect_wrong({
        {"x = (f32[8,4]{0,1}, (f32[8], (s32[], f32[2]))) tuple(p, t)", ""},
        {"x = () tuple()", ""},
        {"x = (f32[8,4]) tuple(p, p)", other},
        {"x = (f32[8,4], f32[8,4]) tuple(p)", other},
        {"x = (f32[8,5]) tuple(p)", other},
        {"x = f32[8,4] tuple(p)", other},
    });
}

TEST(HloInstructionRules, AllGathers) {
    const std::string times = "its result is not its operand times a whole number along dimension ";
    expect_wrong({
        {"x = f32[8,16] all-gather(p), dimensions={1}", ""},
        {"x = f32[8,4] all-gather(p), dimensions={0}", ""},
        {"x = (f32[8,8], f32[8,8]) all-gather(p, p), dimensions={1}", ""},
        {"x = (f32[8,4], f32[16,4]) all-gather-start(p), dimensions={0}", ""},
        {"x = ((f32[8,4], f32[8,4]), (f32[8,8], f32[8,8])) all-gather-start(p, p), dimensions={1}",
         ""},
        {"x = f32[8,16] all-gather(p)", "an all-gather has one dimension"},
        {"x = f32[8,16] all-gather(p), dimensions={0,1}", "an all-gather has one dimension"},
        {"x = f32[8,16] all-gather(p), dimensions={-1}", "an all-gather has one dimension"},
        {"x = f32[8,16] all-gather(p), dimensions={a}", "dimensions: expected a whole number"},
        {"x = f32[8,16] all-gather(p), dimensions={2}", times + "2"},
        {"x = f32[8,16] all-gather(p), dimensions={0}", times + "0"},
        {"x = f32[8,6] all-gather(p), dimensions={1}", times + "1"},
        {"x = f32[8,2] all-gather(p), dimensions={1}", times + "1"},
        {"x = f32[8,0] all-gather(p), dimensions={1}", times + "1"},
        {"x = f32[32] all-gather(p), dimensions={0}", times + "0"},
        {"x = f32[8,8] all-gather(p, p), dimensions={1}",
         "an all-gather of another number of results than operands"},
        {"x = (f32[8,4], f32[8,8]) all-gather-start(p), dimensions={0}", times + "0"},
    });
}

// An end needs a beginning, which may come from anywhere through tuples and loops.
TEST(HloInstructionRules, EndsOfWhatHasBegun) {
    expect_wrong({
        {"s = f32[8,4] all-reduce-start(p)\n x = f32[8,4] all-reduce-done(s)", ""},
        {"x = f32[8,4] all-reduce-done(t)", ""},
        {"g = f32[8] get-tuple-element(t), index=0\n x = f32[8] async-done(g)", ""},
        {"s = f32[8,4] sine-start(p)\n x = f32[8,4] async-done(s)", ""},
        {"s = f32[8,4] sine-start(p)\n u = f32[8,4] sine-update(s)\n x = f32[8,4] sine-done(u)",
         ""},
    });
    const std::string sine = "s = f32[8,4] sine(p)\n ";
    EXPECT_EQ(wrong(sine + "x = f32[8,4] all-reduce-done(s)"),
              "m:10:2: 'x': all-reduce-done of sine, which does not begin it");
    EXPECT_EQ(wrong(sine + "x = f32[8,4] async-update(s)"),
              "m:10:2: 'x': async-update of sine, which does not begin it");
    EXPECT_EQ(wrong("s = f32[8,4] all-reduce-start(p)\n x = f32[8,4] copy-done(s)"),
              "m:10:2: 'x': copy-done of all-reduce-start, which does not begin it");
    EXPECT_EQ(wrong("s = f32[8,4] copy-start(p)\n d = f32[8,4] copy-done(s)\n x = f32[8,4] "
                    "copy-done(d)"),
              "m:11:2: 'x': copy-done of copy-done, which does not begin it");
}

TEST(HloInstructionRules, ComputationsThatAreCarriedOut) {
    expect_wrong({
        {"x = f32[8,4] conditional(p, p), branch_computations={f}", ""},  // which is missing
        {"x = f32[8,4] conditional(p, p)", "conditional without branches"},
        {"x = f32[8,4] conditional(p, p), branch_computations={}", "conditional without branches"},
        {"x = f32[8,4] fusion(p), kind=kLoop", "fusion without a computation"},
        {"x = f32[8,4] call(p)", "call without a computation"},
        {"x = f32[8,4] async-start(p)", "async-start without a computation"},
        {"x = f32[8,4] while(p), body=f", "while without a condition and a body"},
        {"x = f32[8,4] while(p), condition=f", "while without a condition and a body"},
        {"x = f32[8,4] while(p), condition=f, body={f,f}", "while without a condition and a body"},
    });
}

// A literal beyond its type was taken as it stood; XLA's parser refuses it. It reads u64 below 0.
TEST(HloInstructionRules, ConstantsWithinTheirTypes) {
    expect_wrong({
        {"x = s32[] constant(2147483647)", ""},
        {"x = s32[] constant(-2147483648)", ""},
        {"x = u64[] constant(18446744073709551615)", ""},
        {"x = u64[] constant(-1)", ""},
        {"x = s64[] constant(-9223372036854775808)", ""},
        {"x = pred[] constant(true)", ""},
        {"x = f32[] constant(1e30)", ""},
        {"x = s32[] constant(4294967301)", "4294967301 is beyond s32"},
        {"x = s32[] constant(2147483648)", "2147483648 is beyond s32"},
        {"x = u8[] constant(300)", "300 is beyond u8"},
        {"x = s4[] constant(8)", "8 is beyond s4"},
        {"x = u32[] constant(-1)", "-1 is beyond u32"},
        {"x = s64[] constant(9223372036854775808)", "9223372036854775808 is beyond s64"},
        {"x = u64[] constant(18446744073709551616)", "18446744073709551616 is beyond u64"},
        {"x = u64[] constant(-9223372036854775809)", "-9223372036854775809 is beyond u64"},
        {"x = s32[] constant(" + std::string(60, '9') + ")",
         std::string(24, '9') + " is beyond s32"},
    });
}

TEST(HloInstructionRules, WhoTakesPart) {
    expect_wrong({
        {"x = f32[8,4] collective-permute(p), source_target_pairs={}", ""},
        {"x = f32[8,4] collective-permute(p)", "collective-permute without source_target_pairs"},
        {"x = f32[8,4] collective-permute-start(p)",
         "collective-permute-start without source_target_pairs"},
        {"x = f32[8,4] all-reduce(p), use_global_device_ids=false", ""},
        {"x = f32[8,4] all-reduce(p), use_global_device_ids=True",
         "use_global_device_ids=True, which is neither true nor false"},
        {"x = f32[8,4] all-reduce(p), use_global_device_ids=1",
         "use_global_device_ids=1, which is neither true nor false"},
        {"x = f32[8,4] all-reduce(p), replica_groups={{0,1},{2,1}}", "the device 1 twice"},
        {"x = f32[8,4] all-reduce(p), replica_groups={{0,0}}", "the device 0 twice"},
        {"x = f32[8,4] collective-permute(p), source_target_pairs={{0,1},{0,2}}",
         "the source 0 twice"},
        {"x = f32[8,4] collective-permute(p), source_target_pairs={{0,1},{2,1}}",
         "the target 1 twice"},
        // A permute in place has a pair for each slice.
        {"x = f32[8,4] collective-permute(p), source_target_pairs={{0,1},{0,2}}, "
         "slice_sizes={{4},{4}}",
         ""},
    });
}

// A regression: of two attributes with one key the first counted.
TEST(HloInstructionRules, AttributesOnce) {
    EXPECT_EQ(wrong("x = f32[8,8] all-gather(p), dimensions={1}, dimensions={0}"),
              "m:9:28: 'dimensions=' twice");
    EXPECT_EQ(wrong("x = f32[8,4] sine(p)", "HloModule m, num_partitions=4, num_partitions=8\n"),
              "m:1:12: 'num_partitions=' twice");
    std::string many = "x = f32[8,4] sine(p)";
    for (int i = 0; i < 200'000; ++i) {
        many += ", a" + std::to_string(i) + "=1";
    }
    EXPECT_EQ(wrong(many), "none");
}

// Numbers of a whole computation have no gaps; a text that was cut off may have lost some.
TEST(HloInstructionRules, ParametersWithoutGaps) {
    const auto gap = [](const std::string& tail) {
        try {
            return std::string(
                read_module(
                    "ENTRY e {\n a = f32[8] parameter(0)\n b = f32[8] parameter(2)\n" + tail, "m")
                        .cut_off
                    ? "cut off"
                    : "none");
        } catch (const sim::InputError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_EQ(gap("}\n"), "m:3:2: 'b': a parameter of the number 2, and none of 1");
    EXPECT_EQ(gap(" c = f32[8] parameter(1)\n}\n"), "none");
    EXPECT_EQ(gap(" c = f32[8] sine(a)\n"), "cut off");
}

}  // namespace
}  // namespace podsim::workloads::hlo
