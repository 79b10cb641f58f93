// Modules that took minutes, gigabytes or the stack: each kind is as large as in a file of several
// MB, with its expected result.
//
// No test measures time: anything that is not linear here would not end in reasonable time.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "workloads/hlo/import_step.h"
#include "workloads/hlo/read_module.h"
#include "workloads/hlo/totals.h"

namespace podsim::workloads::hlo::hostile {
namespace {

constexpr const char* kAddition =
    "sum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";

std::string entry(const std::string& lines) {
    return "ENTRY e {\n p = f32[8] parameter(0)\n" + lines + "}\n";
}

/// Returns `line` once for each number from 0 on.
std::string lines(int count, const char* line) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        fmt::format_to(std::back_inserter(text), fmt::runtime(line), i);
    }
    return text;
}

std::string repeated(const std::string& word, int count) {
    return fmt::format(
        "{}", fmt::join(std::vector<std::string>(static_cast<std::size_t>(count), word), ","));
}

Totals totals_in(const std::string& text) {
    return totals_of(read_module(text, "m"), {}, {});
}

std::string refusal_of(const std::string& text) {
    try {
        totals_in(text);
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

std::size_t played(const std::string& text, std::int64_t devices) {
    const Module module = read_module(text, "m");
    return import_step(module, DeviceAxes(module, devices, {}), {}, {}).program.ops.size();
}

// One kernel reads 32 bytes through 300,000 names and
// writes 32; the kernel behind the names reads those.
TEST(HostileModules, NamesInARow) {
    for (const auto& [opcode, names] :
         {std::pair{"bitcast", 300'000}, {"opt-barrier", 30'000}, {"bitcast-convert", 30'000}}) {
        std::string text = " x = f32[8] sine(p)\n n0 = f32[8] " + std::string(opcode) + "(x)\n";
        for (int i = 1; i < names; ++i) {
            text += fmt::format(" n{} = f32[8] {}(n{})\n", i, opcode, i - 1);
        }
        text +=
            fmt::format(" ROOT y = f32[8] custom-call(n{}), custom_call_target=\"k\"\n", names - 1);
        EXPECT_EQ(totals_in(entry(text)).hbm.value(), 4 * 32) << opcode;
        EXPECT_EQ(played(entry(text), 1), 4U) << opcode;  // and both ends
    }
}

// An AllReduce is sliced through a chain of names, and a fusion reads one through it.
TEST(HostileModules, NamesInARowBehindACollective) {
    std::string text =
        " id = u32[] partition-id()\n two = u32[] constant(2)\n at = u32[] "
        "multiply(id, two)\n r = f32[8] all-reduce(p), replica_groups=[1,4]<=[4], "
        "to_apply=sum\n n0 = f32[8] convert(r)\n";
    for (int i = 1; i < 200000; ++i) {
        text += fmt::format(" n{} = f32[8] copy(n{})\n", i, i - 1);
    }
    text += " ROOT s = f32[2] dynamic-slice(n199999, at), dynamic_slice_sizes={2}\n";
    const Totals totals =
        totals_in("HloModule m, num_partitions=4\n" + std::string(kAddition) + entry(text));
    EXPECT_EQ(totals.collectives.at({"reduce-scatter", "[1,4]<=[4]"}).was_all_reduce, 1);
    const std::string fused = "f {\n p = f32[8] parameter(0)\n n0 = f32[8] bitcast(p)\n";
    std::string inside;
    for (int i = 1; i < 200000; ++i) {
        inside += fmt::format(" n{} = f32[8] bitcast(n{})\n", i, i - 1);
    }
    const std::string tail = fmt::format(" ROOT t = ({}) tuple({})\n}}\n", repeated("f32[8]", 1000),
                                         repeated("n199999", 1000));
    // The names denote the parameter: nothing is written.
    EXPECT_EQ(totals_in(fused + inside + tail +
                        entry(fmt::format(" ROOT f = ({}) fusion(p), kind=kLoop, calls=f\n",
                                          repeated("f32[8]", 1000))))
                  .hbm.value(),
              32);
}

// A regression: the loop limit 2^59 is a sum of itself
// 59 times over, which was added up term by term. An s32 wraps to 0 from 2^32 on, as it does on a
// device.
TEST(HostileModules, SharedPartsOfALoopsLimit) {
    const auto loop = [](const char* type, int deep) {
        std::string text = fmt::format(
            "t {{\n p = ({0}[]) parameter(0)\n i = {0}[] get-tuple-element(p), index=0\n "
            "a0 = {0}[] constant(1)\n",
            type);
        for (int i = 1; i <= deep; ++i) {
            text += fmt::format(" a{} = {}[] add(a{}, a{})\n", i, type, i - 1, i - 1);
        }
        return text +
               fmt::format(
                   " ROOT c = pred[] compare(i, a{1}), direction=LT\n}}\nb {{\n p = ({0}[]) "
                   "parameter(0)\n i = {0}[] get-tuple-element(p), index=0\n one = {0}[] "
                   "constant(1)\n n = {0}[] add(i, one)\n ROOT t = ({0}[]) tuple(n)\n}}\nENTRY e "
                   "{{\n "
                   "z = {0}[] constant(0)\n t = ({0}[]) tuple(z)\n ROOT w = ({0}[]) while(t), "
                   "condition=t, body=b\n}}\n",
                   type, deep);
    };
    EXPECT_EQ(totals_in(loop("s64", 40)).loops.at(0).trips, std::int64_t{1} << 40);
    EXPECT_EQ(totals_in(loop("s32", 40)).loops.at(0).trips, 0);
    EXPECT_EQ(totals_in(loop("s32", 31)).loops.at(0).trips, 0);  // below -2^31
    EXPECT_EQ(totals_in(loop("u32", 31)).loops.at(0).trips, std::int64_t{1} << 31);
    EXPECT_EQ(refusal_of(loop("s64", 59)), "m:76:7: 'w': it goes round more than 2^50 times");
    EXPECT_EQ(refusal_of(loop("s64", 100000)),
              "m:100017:7: 'w': the text does not tell how often this loop goes round; say "
              "--trips w=N");
}

// A loop carries 100,000 elements; its condition is examined once and not once for each.
TEST(HostileModules, LoopsThatCarryMuch) {
    const int count = 100000;
    const std::string all = repeated("s32[]", count);
    EXPECT_EQ(
        totals_in(
            fmt::format(
                "t {{\n p = ({0}) parameter(0)\n i = s32[] get-tuple-element(p), index={1}\n k = "
                "s32[] constant(4)\n ROOT c = pred[] compare(i, k), direction=LT\n}}\nb {{\n p = "
                "({0}) parameter(0)\n i = s32[] get-tuple-element(p), index={1}\n o = s32[] "
                "constant(1)\n n = s32[] add(i, o)\n ROOT t = ({0}) tuple({2},n)\n}}\nENTRY e {{\n "
                "z = s32[] constant(0)\n t = ({0}) tuple({3})\n ROOT w = ({0}) while(t), "
                "condition=t, body=b\n}}\n",
                all, count - 1, repeated("i", count - 1), repeated("z", count)))
            .loops.at(0)
            .trips,
        4);
}

// Each of 2000 kernels reads an element of a tuple
// of 2000 collectives, and so waits for all of them.
TEST(HostileModules, CollectivesUnderOneTuple) {
    const int count = 2000;
    std::string text = lines(count, " c{} = f32[8] all-reduce(p), replica_groups={{}}\n") +
                       fmt::format(" t = ({}) tuple(", repeated("f32[8]", count));
    for (int i = 0; i < count; ++i) {
        text += fmt::format("{}c{}", i == 0 ? "" : ",", i);
    }
    text += ")\n" + lines(count, " g{0} = f32[8] get-tuple-element(t), index={0}\n") +
            lines(count, " k{0} = f32[8] custom-call(g{0}), custom_call_target=\"k\"\n");
    EXPECT_EQ(totals_in(entry(text)).collectives.at({"all-reduce", "[1,1]<=[1]"}).count, count);
    const std::string four = "HloModule m, replica_count=4";
    for (const char* const scheduled : {"\n", ", is_scheduled=true\n"}) {
        EXPECT_EQ(played(four + scheduled + entry(text), 4), 2U + 2U * count);
    }
}

// Consecutive collectives block the stream one after the
// other: each waits for the previous one, not for all.
TEST(HostileModules, CollectivesInARowOfAScheduledModule) {
    const int count = 30000;
    const std::string text =
        "HloModule m, is_scheduled=true, replica_count=4\n" +
        entry(lines(count, " c{} = f32[8] all-reduce(p), replica_groups={{}}\n"));
    const Module module = read_module(text, "m");
    const ImportedStep step = import_step(module, DeviceAxes(module, 4, {}), {}, {});
    ASSERT_EQ(step.program.ops.size(), 2U + count);
    EXPECT_EQ(step.program.ops[1000].after, (std::vector<OpIndex>{0, 999}));
}

// An error in the last of 200,000 instructions on one line is reported at its column.
TEST(HostileModules, AModuleInOneLine) {
    std::string text = "ENTRY e { p = f32[8] parameter(0) ";
    for (int i = 0; i < 200000; ++i) {
        text += fmt::format("x{} = f32[8] negate(p) ", i);
    }
    const std::size_t at = text.size();
    EXPECT_EQ(refusal_of(text + "y = f32[8] dot(p) }\n"),
              fmt::format("m:1:{}: 'y': dot of 1 operands", at + 1));
}

// 400 windows over 10^8 positions are counted; if dilated, their rows count as steps.
TEST(HostileModules, Convolutions) {
    const std::string ends =
        "ENTRY e {\n a = bf16[1,100000000,1] parameter(0)\n b = bf16[3,1,1] "
        "parameter(1)\n";
    EXPECT_EQ(totals_in(ends +
                        lines(400,
                              " c{} = bf16[1,99999998,1] convolution(a, b), window={{size=3}}, "
                              "dim_labels=b0f_0io->b0f\n") +
                        "}\n")
                  .matmul_flops.value(),
              400 * 2 * 3 * 99999998.0);
    EXPECT_EQ(refusal_of(ends +
                         lines(400,
                               " c{} = bf16[1,99999998,1] convolution(a, b), "
                               "window={{size=40000000 lhs_dilate=2}}, dim_labels=b0f_0io->b0f\n") +
                         "}\n"),
              "m:5:2: 'c1': with it the module takes more than 500000000 steps; give a smaller "
              "module, or one for fewer devices");
}

// 20 collectives of 16 million devices, in groups of 2 to 2^20.
TEST(HostileModules, MillionsOfGroups) {
    std::string text;
    for (int i = 1; i <= 20; ++i) {
        text += fmt::format(
            " c{0} = f32[8] all-reduce(p), channel_id=1, use_global_device_ids=true, "
            "replica_groups=[{1},{2}]<=[{2},{1}]T(1,0)\n",
            i, 1 << (24 - i), 1 << i);
    }
    const Totals totals = totals_in(entry(text));
    EXPECT_EQ(totals.devices, 1 << 24);
    EXPECT_EQ(totals.collectives.size(), 20U);
    EXPECT_TRUE(totals.collectives.contains({"all-reduce", "[8388608,2]<=[2,8388608]T(1,0)"}));
}

// A table of 100,000 positions, or 4 million members, belongs to each of 20,000 collectives. They
// count as steps and are refused at a line.
TEST(HostileModules, PlacesOfSlices) {
    const std::string steps =
        "with it the module takes more than 500000000 steps; give a smaller "
        "module, or one for fewer devices";
    const auto slices = [](int devices, const std::string& place) {
        std::string text;
        for (int i = 0; i < 1000; ++i) {
            text += fmt::format(
                " r{0} = f32[{1}] all-reduce(q), channel_id=1, "
                "use_global_device_ids=true, replica_groups=[1,{1}]<=[{1}]\n s{0} = "
                "f32[1] dynamic-slice(r{0}, {2}), dynamic_slice_sizes={{1}}\n",
                i, devices, place);
        }
        return fmt::format(
                   "HloModule m, num_partitions={0}\nENTRY e {{\n q = f32[{0}] "
                   "parameter(0)\n id = u32[] partition-id()\n",
                   devices) +
               text + "}\n";
    };
    // Each of 4194304 members takes (1 + 20) steps, and
    // 1 to look at it: 5 collectives take 440401925.
    EXPECT_EQ(refusal_of(slices(1 << 22, "id")), "m:15:2: 'r5': " + steps);
    EXPECT_EQ(refusal_of(slices(1 << 10, "id")), "none");
}

// The bytes that many readers read are summed once: a tuple of 100,000 arrays, an array of 100,000
// dimensions, 100,000 parameters of a fusion.
TEST(HostileModules, WideOperandsOfMany) {
    const int count = 100000;
    const std::string reads =
        lines(count, " k{} = f32[] custom-call(t), custom_call_target=\"k\"\n") + "}\n";
    EXPECT_EQ(
        totals_in(fmt::format("ENTRY e {{\n t = ({}) parameter(0)\n", repeated("f32[]", count)) +
                  reads)
            .hbm.value(),
        4.0 * count * (count + 1));
    EXPECT_EQ(
        totals_in(fmt::format("ENTRY e {{\n t = f32[{}] parameter(0)\n", repeated("1", count)) +
                  reads)
            .hbm.value(),
        8.0 * count);
    std::string fused = "f {\n" + lines(count, " p{0} = f32[8] parameter({0})\n") +
                        " ROOT r = f32[8] sine(p7)\n}\n";
    EXPECT_EQ(
        totals_in(fused + entry(fmt::format(" ROOT f = f32[8] fusion({}), kind=kLoop, calls=f\n",
                                            repeated("p", count))))
            .hbm.value(),
        2 * 32);
}

// Many calls lead to texts of a MB: a configuration, a name, a target.
TEST(HostileModules, LongTextsOfWhatManyCall) {
    const std::string large(1000000, 'x');
    const auto calls = [&](const std::string& call) {
        return "f {\n p = f32[8] parameter(0)\n ROOT " + call + "\n}\n" +
               entry(lines(50000, " a{} = f32[8] call(p), to_apply=f\n"));
    };
    EXPECT_EQ(totals_in(calls("c = f32[8] custom-call(p), custom_call_target=\"gmm\", "
                              "backend_config={\"k\":\"" +
                              large + "\"}"))
                  .custom_calls.at("gmm"),
              50000);
    EXPECT_EQ(totals_in(calls("c = f32[8] custom-call(p), custom_call_target=\"" + large + "\""))
                  .custom_calls.at(large),
              50000);
    EXPECT_EQ(refusal_of(entry(" c = f32[8] " + std::string(101, 'x') + "(p)\n")),
              "m:3:114: an opcode of more than 100 letters");
    EXPECT_EQ(
        refusal_of(entry(" " + large + " = f32[8] negate(f32[8] sine(p))\n")),
        fmt::format("m:3:{}: a name of more than 200 letters with an instruction as an operand",
                    1000031));
}

// Missing computations, and targets of custom calls, are listed once each.
TEST(HostileModules, ManyNames) {
    const int count = 150000;
    EXPECT_EQ(read_module(entry(lines(count, " c{0} = f32[8] call(p), to_apply=f{0}\n")), "m")
                  .missing.size(),
              static_cast<std::size_t>(count));
    EXPECT_EQ(totals_in(entry(lines(
                            count, " c{0} = f32[8] custom-call(p), custom_call_target=\"t{0}\"\n")))
                  .unknown_calls.size(),
              static_cast<std::size_t>(count));
}

// 100,000 kernels have two instructions each, the first of which ends last.
TEST(HostileModules, KernelsWithinKernels) {
    const int count = 100000;
    std::string text = lines(count, " a{} = f32[8] sine(p)\n");
    for (int i = count; i-- > 0;) {
        text += fmt::format(" b{0} = f32[8] cosine(a{0})\n", i);
    }
    const Totals totals = totals_in(entry(text));
    EXPECT_EQ(totals.vector.value(), 2 * 4 * 8.0 * count);
    EXPECT_EQ(totals.hbm.value(), 32.0 * count + 32);  // only the last is a result
}

// 100,000 negations of one array and names of them are all read by one tuple: the needs of the
// kernel arrive one by one.
TEST(HostileModules, KernelsOfManyMembers) {
    constexpr int kMany = 100'000;
    const std::string text =
        entry(lines(kMany, " a{0} = f32[8] negate(p)\n b{0} = f32[8] bitcast(a{0})\n") +
              " ROOT t = " + fmt::format("({})", repeated("f32[8]", kMany)) + " tuple(b0" +
              lines(kMany - 1, ",b{}") + ")\n");
    EXPECT_EQ(played(text, 1), static_cast<std::size_t>(kMany + 2));
}

// Operations are named after the instruction at each run:
// a hundred thousand letters, a hundred thousand times.
TEST(HostileModules, LongNamesOfALoop) {
    const std::string name(100'000, 'x');
    const std::string text =
        "c {\n p = (f32[8]) parameter(0)\n ROOT q = pred[] constant(true)\n}\n"
        "b {\n p = (f32[8]) parameter(0)\n g = f32[8] get-tuple-element(p), index=0\n " +
        name + " = f32[8] negate(g)\n ROOT r = (f32[8]) tuple(" + name + ")\n}\n" +
        entry(
            " t = (f32[8]) tuple(p)\n ROOT w = (f32[8]) while(t), condition=c, body=b, "
            "backend_config={\"known_trip_count\":{\"n\":\"100000\"}}\n");
    try {
        played(text, 1);
        FAIL() << "nothing was refusal_of";
    } catch (const sim::InputError& error) {
        EXPECT_THAT(error.problem(),
                    ::testing::HasSubstr("with it the module takes more than 200000000 steps"));
        EXPECT_EQ(error.mark().line, 8);
    }
}

// The runs exceed 2^63: 4 nested loops of 10^6 are 10^24.
TEST(HostileModules, RunsBeyondTheRange) {
    std::string text =
        "b0 {\n ROOT p = f32[8] parameter(0)\n}\nt {\n p = f32[8] parameter(0)\n ROOT "
        "c = pred[] constant(true)\n}\n";
    for (int i = 1; i <= 4; ++i) {
        text += fmt::format(
            "b{} {{\n p = f32[8] parameter(0)\n ROOT w{} = f32[8] while(p), "
            "condition=t, body=b{}, "
            "backend_config={{\"known_trip_count\":{{\"n\":\"1000000\"}}}}\n}}\n",
            i, i, i - 1);
    }
    EXPECT_EQ(refusal_of(text + entry(" ROOT w = f32[8] call(p), to_apply=b3\n")), "none");
    EXPECT_EQ(refusal_of(text + entry(" ROOT w = f32[8] call(p), to_apply=b4\n")),
              "m:10:7: 'w1': with the loops around it, it goes round 2^63 times or more");
}

}  // namespace
}  // namespace podsim::workloads::hlo::hostile
