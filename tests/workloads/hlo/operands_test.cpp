// Operands in every form of XLA's grammar: names, elements
// of tuples in the compact form of its dumps, instructions.
#include "workloads/hlo/operands.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

using OperandNumbers = std::vector<std::uint32_t>;

Computation read_entry(const std::string& instructions) {
    return read_module("e {\n" + instructions + "}\n", "m.txt").computations[0];
}

std::string operand_error(const std::string& instructions) {
    try {
        read_entry(instructions);
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

const std::string kNestedPair = " p = (f32[10], (f32[20], f16[30])) parameter(0)\n";

// Elements are written with and without %, with and without a shape before them, and nested; each
// appears once for any number of readers.
TEST(HloOperands, ElementsOfTuplesByTheirNumbers) {
    const Computation found = read_entry(
        kNestedPair +
        " a = f32[20] add(%p#1#0, f32[20]{0} p#1#0)\n"
        " b = f32[10] multiply(p#0, /*index=1*/%p#0)\n"
        " ROOT t = ((f32[20], f16[30]), f16[30]) tuple((f32[20], f16[30]) %p#1, %p #1 #1)\n");
    ASSERT_EQ(found.instructions.size(), 8U);
    const Instruction& outer = found.instructions[1];
    EXPECT_EQ(outer.name, "p#1");
    EXPECT_EQ(outer.opcode, "get-tuple-element");
    EXPECT_EQ(outer.operands, OperandNumbers{0});
    EXPECT_EQ(outer.find("index"), "1");
    EXPECT_EQ(outer.line, 3);
    EXPECT_EQ(outer.shape.parts.size(), 2U);
    EXPECT_EQ(found.instructions[2].name, "p#1#0");
    EXPECT_EQ(found.instructions[2].operands, OperandNumbers{1});
    EXPECT_EQ(found.instructions[2].shape.bytes().value(), 80);
    EXPECT_EQ(found.instructions[3].operands, (OperandNumbers{2, 2}));
    EXPECT_EQ(found.instructions[5].operands, (OperandNumbers{4, 4}));
    EXPECT_EQ(found.instructions[6].name, "p#1#1");
    EXPECT_EQ(found.root_instruction().operands, (OperandNumbers{1, 6}));
}

// XLA renames elements that would clash with other names; here no name has a `#`.
TEST(HloOperands, ElementsMeetNoOtherName) {
    const Computation found = read_entry(kNestedPair +
                                         " p_0 = f32[10] parameter(1)\n"
                                         " ROOT r = f32[10] add(p#0, p_0)\n");
    EXPECT_EQ(found.root_instruction().operands, (OperandNumbers{2, 1}));
}

TEST(HloOperands, InstructionsAsOperands) {
    const Computation found = read_entry(
        " ROOT r = f32[4] add(f32[4] parameter(0), f32[4] multiply(f32[4] parameter(1), "
        "f32[4]{0} negate(f32[4] constant({1, 2, 3, 4}))))\n");
    ASSERT_EQ(found.instructions.size(), 6U);
    EXPECT_EQ(found.instructions[0].literal, "0");
    EXPECT_EQ(found.instructions[2].literal, "{1, 2, 3, 4}");
    EXPECT_EQ(found.instructions[3].opcode, "negate");
    EXPECT_EQ(found.instructions[3].operands, OperandNumbers{2});
    EXPECT_EQ(found.instructions[4].operands, (OperandNumbers{1, 3}));
    EXPECT_EQ(found.root_instruction().operands, (OperandNumbers{0, 4}));
    EXPECT_EQ(found.parameter(1), &found.instructions[1]);
}

// Operands nest as deep as the text is long, without recursion.
TEST(HloOperands, InstructionsAsOperandsMayBeDeep) {
    std::string text = " ROOT r = f32[] negate(";
    for (int i = 0; i < 20'000; ++i) {
        text += "f32[] negate(";
    }
    EXPECT_EQ(read_entry(text + "f32[] constant(1)" + std::string(20'000, ')') + ")\n")
                  .instructions.size(),
              20'002U);
}

TEST(HloOperands, ErrorsNameTheirPlace) {
    EXPECT_EQ(
        operand_error(kNestedPair + " r = f32[10] negate(p#2)\n ROOT s = f32[] constant(0)\n"),
        "m.txt:3:24: 'p' has 2 elements, none of the number 2");
    EXPECT_EQ(
        operand_error(kNestedPair + " r = f32[10] negate(p#0#0)\n ROOT s = f32[] constant(0)\n"),
        "m.txt:3:26: 'p#0' is no tuple");
    EXPECT_EQ(
        operand_error(kNestedPair + " r = f32[10] negate(p#-1)\n ROOT s = f32[] constant(0)\n"),
        "m.txt:3:25: 'p' has 2 elements, none of the number -1");
    EXPECT_EQ(
        operand_error(kNestedPair + " r = f32[10] negate(p#x)\n ROOT s = f32[] constant(0)\n"),
        "m.txt:3:23: expected a whole number");
    EXPECT_EQ(operand_error(" r = f32[4] negate(add(x, x))\n ROOT s = f32[] constant(0)\n"),
              "m.txt:2:20: 'add' stands as an operand without its shape; write `f32[4] "
              "negate(%x)`, or give it a line of its own");
    EXPECT_EQ(operand_error(" r = f32[] negate(f32[] slice())\n ROOT s = f32[] constant(0)\n"),
              "m.txt:2:32: 'r.slice': slice of 0 operands");
    EXPECT_EQ(operand_error(" r = f32[] add(f32[] constant(1) f32[] constant(1))\n ROOT s = f32[] "
                            "constant(0)\n"),
              "m.txt:2:34: expected ')' but found 'f32[] constant(1))'");
}

/// Opcodes of XLA that have operands.
constexpr const char* kWithOperands[] = {"add",
                                         "all-gather",
                                         "all-reduce",
                                         "all-to-all",
                                         "bitcast",
                                         "broadcast",
                                         "collective-broadcast",
                                         "collective-permute",
                                         "compare",
                                         "concatenate",
                                         "convert",
                                         "convolution",
                                         "copy",
                                         "dot",
                                         "dynamic-slice",
                                         "dynamic-update-slice",
                                         "gather",
                                         "get-tuple-element",
                                         "opt-barrier",
                                         "pad",
                                         "ragged-all-to-all",
                                         "ragged-dot",
                                         "reduce",
                                         "reduce-scatter",
                                         "reshape",
                                         "reverse",
                                         "scatter",
                                         "select",
                                         "slice",
                                         "transpose",
                                         "tuple",
                                         "while"};

// A regression: `ragged-all-to-all-start()` ended the program, as the operands that an opcode needs
// were looked up by the whole word.
TEST(HloOperands, EachAsynchronousFormHasThem) {
    for (const std::string opcode : kWithOperands) {
        for (const char* const form : {"", "-start", "-update", "-done"}) {
            const bool of_nothing = opcode == "tuple" && (form[0] == 0 || form[1] == 's');
            EXPECT_EQ(operand_error(" a = () " + opcode + form + "()\n"),
                      of_nothing ? "none" : "m.txt:2:2: 'a': " + opcode + form + " of 0 operands");
        }
    }
    const std::string two = " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n";
    EXPECT_EQ(operand_error(two + " a = f32[8] ragged-all-to-all-start(p)\n"),
              "m.txt:4:2: 'a': ragged-all-to-all-start of 1 operands");
    EXPECT_EQ(operand_error(two + " a = f32[8] dot-done(p)\n"), "none");
    EXPECT_EQ(operand_error(" r = f32[8] negate(f32[8] dot-start(f32[8] parameter(0)))\n"),
              "m.txt:2:57: 'r.dot-start': dot-start of 1 operands");
}

// An instruction that passes on one value has no other
// operand: a walk through names meets each once.
TEST(HloOperands, NamesHaveOne) {
    const std::string two = " p = f32[8] parameter(0)\n q = f32[8] parameter(1)\n a = f32[8] ";
    for (const std::string opcode :
         {"bitcast", "bitcast-convert", "convert", "copy", "copy-start", "copy-done",
          "get-tuple-element", "opt-barrier", "reshape", "all-gather-done", "async-update"}) {
        EXPECT_EQ(operand_error(two + opcode + "(p)\n"),
                  opcode == "get-tuple-element"
                      ? "m.txt:4:2: 'a': a get-tuple-element without an index"
                      : "none");
        EXPECT_EQ(operand_error(two + opcode + "(p, q)\n"),
                  "m.txt:4:2: 'a': " + opcode + " of 2 operands");
    }
}

}  // namespace
}  // namespace podsim::workloads::hlo
