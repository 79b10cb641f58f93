// Modules in every form in which XLA prints them, and the messages for texts that are not modules.
#include "workloads/hlo/read_module.h"

#include <gtest/gtest.h>
#include <string>

#include "sim/base/error.h"

namespace podsim::workloads::hlo {
namespace {

std::string module_error(const std::string& text) {
    try {
        read_module(text, "m.txt");
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

constexpr const char* kWhole = R"(
HloModule jit_step, is_scheduled=true, num_partitions=4, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

FileNames
1 "a.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

// the sum of two
%region (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, f32[] %b)
}

ENTRY %main (p: f32[4]) -> (f32[4], f32[]) {
  %p = f32[4]{0} parameter(0), sharding={devices=[4]<=[4]}
  %c = f32[] constant(-1.5e-3)
  /* a comment, with = and ( in it */
  %all = f32[4]{0} all-reduce(f32[4]{0} %p), channel_id=1, replica_groups=mesh['x'=2,'y'=2], device_ids=(0,1,2,3) {'x','y'}, use_global_device_ids=true, to_apply=%region, metadata={op_name="jit(step)/a, b=\"c\"" source_line=3}, backend_config={"x":{"n":"2"}}
  ROOT %out = (f32[4]{0}, /*index=1*/f32[]) tuple(%all, %c)
}, execution_thread="main"
)";

TEST(HloReadModule, AWholeModule) {
    const Module module = read_module(kWhole, "m.txt");
    EXPECT_EQ(module.name, "jit_step");
    EXPECT_TRUE(module.is_scheduled());
    EXPECT_EQ(module.stated_devices(), 4);
    ASSERT_EQ(module.computations.size(), 2U);
    ASSERT_EQ(module.entry, 1U);
    const Computation& main = module.computations[1];
    EXPECT_EQ(main.thread, "main");
    ASSERT_EQ(main.instructions.size(), 4U);
    EXPECT_EQ(main.root_instruction().name, "out");
    EXPECT_EQ(main.root_instruction().operands, (std::vector<std::uint32_t>{2, 1}));
    const Instruction& all = main.instructions[2];
    EXPECT_EQ(all.opcode, "all-reduce");
    EXPECT_EQ(all.line, 21);
    EXPECT_EQ(all.column, 3);
    EXPECT_EQ(all.called, std::vector<std::uint32_t>{0});
    EXPECT_EQ(all.find("replica_groups"), "mesh['x'=2,'y'=2], device_ids=(0,1,2,3) {'x','y'}");
    EXPECT_EQ(all.find("use_global_device_ids"), "true");
    EXPECT_EQ(all.find("backend_config"), R"({"x":{"n":"2"}})");
    EXPECT_EQ(all.op_name(), "jit(step)/a, b=\\");
    EXPECT_EQ(main.instructions[1].literal, "-1.5e-3");
    EXPECT_FALSE(module.cut_off);
}

// A regression: the last of them counted, silently.
TEST(HloReadModule, WhatStandsTwice) {
    const std::string one = "e {\n a = f32[8] parameter(0)\n}\n";
    EXPECT_EQ(module_error("ENTRY " + one + "ENTRY f {\n a = f32[8] parameter(0)\n}\n"),
              "m.txt:4:1: 'f' is a second ENTRY; 'e' is the first");
    EXPECT_EQ(module_error("e {\n ROOT a = f32[8] parameter(0)\n ROOT b = f32[8] negate(a)\n}\n"),
              "m.txt:3:7: 'b' is a second ROOT");
    EXPECT_EQ(module_error("e {\n a = f32[8] parameter(0)\n b = f32[8] parameter(0)\n}\n"),
              "m.txt:3:2: 'b': a second parameter of the number 0");
}

// A regression: the error had no position.
TEST(HloReadModule, CallsOfNoName) {
    EXPECT_EQ(module_error("e {\n a = f32[8] parameter(0)\n b = f32[8] call(a), to_apply==\n}\n"),
              "m.txt:3:2: 'b': to_apply: expected a name");
}

// A regression: such numbers were read by their beginning, as 1, or not as a parameter at all.
TEST(HloReadModule, NumbersOfParameters) {
    for (const char* const number : {"1e3", "-1", "x", "", "18446744073709551616"}) {
        EXPECT_EQ(module_error(std::string("e {\n a = f32[8] parameter(") + number + ")\n}\n"),
                  std::string("m.txt:2:2: 'a': a parameter of the number '") + number + "'");
    }
}

TEST(HloReadModule, OneComputationWithoutHeaderOrEntry) {
    const Module module = read_module(
        "e {\n  a = u4[8]{0:E(4)} parameter(0)\n  b = u4[16]{0:E(4)} all-gather(a), "
        "dimensions={0}\n}\n",
        "m.txt");
    EXPECT_EQ(module.entry, 0U);
    EXPECT_EQ(module.computations[0].root_instruction().name, "b");
    EXPECT_EQ(module.computations[0].root_instruction().numbers("dimensions"),
              std::vector<std::int64_t>{0});
}

// MaxText's dumps are cut at 2000 lines.
TEST(HloReadModule, ATextThatIsCutOff) {
    const Module module = read_module(
        "HloModule m\n%f (a: f32[2]) -> f32[2] {\n  %a = f32[2] parameter(0)\n  %b = f32[2] "
        "fusion(%a), calls=%gone\n  %c = f32[2] add(%a, %b\n",
        "m.txt");
    EXPECT_TRUE(module.cut_off);
    EXPECT_EQ(module.entry, kNothing);
    EXPECT_EQ(module.missing, std::vector<std::string>{"gone"});
    EXPECT_EQ(module.computations[0].instructions.size(), 2U);
}

TEST(HloReadModule, WhatIsNoHlo) {
    const std::string dump =
        "; give the text of `compiled.as_text()`, or a *after_optimizations.txt of "
        "XLA_FLAGS=--xla_dump_to=DIR";
    EXPECT_EQ(module_error(""), "m.txt:1:1: the file is empty" + dump);
    EXPECT_EQ(module_error("module @jit_f {\n}"),
              "m.txt:1:1: this is MLIR (StableHLO), which is not partitioned yet" + dump);
    EXPECT_EQ(module_error("hello world\n"),
              "m.txt:1:1: 'hello' is no computation of HLO text" + dump);
    EXPECT_EQ(module_error("HloModule m\n"),
              "m.txt:2:1: there is no computation in this module" + dump);
    EXPECT_EQ(module_error("\x01\x02"), "m.txt:1:1: expected a computation" + dump);
}

TEST(HloReadModule, ErrorsNameTheirPlace) {
    EXPECT_EQ(module_error("e {\n  a = f32[2] parameter(0)\n  b = f32[2] add(a, x)\n}\n"),
              "m.txt:3:21: 'x' is no instruction before this one");
    EXPECT_EQ(module_error("e {\n  a = f32[2] parameter(0)\n  a = f32[2] negate(a)\n}\n"),
              "m.txt:3:3: two instructions are named 'a'");
    EXPECT_EQ(module_error("e {\n a = f32[] constant(1)\n}\ne {\n a = f32[] constant(1)\n}\n"),
              "m.txt:4:1: two computations are named 'e'");
    EXPECT_EQ(module_error("a {\n x = f32[] call(), to_apply=b\n}\nb {\n x = f32[] call(), "
                           "to_apply=a\n}\n"),
              "m.txt:1:1: 'a' calls itself");
    EXPECT_EQ(module_error("e {\n}\n"), "m.txt:1:1: the computation 'e' has no instructions");
    EXPECT_EQ(module_error("e {\n  a = f32[2] add)\n}\n"),
              "m.txt:2:17: expected '(' but found ')'");
    EXPECT_EQ(module_error("e {\n  a = f32[2] parameter(0), b={(}\n  c = f32[] constant(1)\n}\n"),
              "m.txt:2:32: '}' without its beginning");
}

}  // namespace
}  // namespace podsim::workloads::hlo
