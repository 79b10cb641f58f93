// Modules that are refused for their calls, in any order of their text.
#include "workloads/hlo/endless_calls.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

/// Returns the reader's refusal.
std::string refused(const std::string& text) {
    try {
        read_module(text, "m.txt");
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

/// Returns computations of which c0 computes, c1 calls it, c2 calls c1 ...: callees first, as XLA
/// prints them, or last.
std::string chain(int calls, bool callees_first) {
    std::string text;
    for (int i = 0; i <= calls; ++i) {
        const std::string name = "c" + std::to_string(i);
        const std::string one =
            name + " {\n x = f32[] parameter(0)\n ROOT y = f32[] " +
            (i == 0 ? "negate(x)" : "call(x), to_apply=c" + std::to_string(i - 1)) + "\n}\n";
        text = callees_first ? text + one : one + text;
    }
    return text;
}

// A computation has 4 lines. c65 is the first whose calls go 65 deep, at line 4 x 65 + 1, or behind
// all those above it: 5, or 19935.
TEST(HloEndlessCalls, HowDeepCallsGoDoesNotDependOnTheOrderOfTheText) {
    for (const bool callees_first : {true, false}) {
        EXPECT_EQ(refused(chain(64, callees_first)), "none");
    }
    EXPECT_EQ(refused(chain(70, true)), "m.txt:261:1: 'c65' calls others more than 64 deep");
    EXPECT_EQ(refused(chain(70, false)), "m.txt:21:1: 'c65' calls others more than 64 deep");
    EXPECT_EQ(refused(chain(20000, true)), "m.txt:261:1: 'c65' calls others more than 64 deep");
    EXPECT_EQ(refused(chain(20000, false)), "m.txt:79741:1: 'c65' calls others more than 64 deep");
}

// `a` calls computations of a cycle, but is not part of it.
TEST(HloEndlessCalls, WhatCallsItselfIsNamed) {
    const auto calling = [](const std::string& name, const std::string& callee) {
        return name + " {\n x = f32[] call(), to_apply=" + callee + "\n}\n";
    };
    EXPECT_EQ(refused(calling("a", "c") + calling("b", "c") + calling("c", "b")),
              "m.txt:4:1: 'b' calls itself");
    EXPECT_EQ(refused(calling("c", "b") + calling("b", "c") + calling("a", "c")),
              "m.txt:1:1: 'c' calls itself");
    EXPECT_EQ(refused(calling("a", "a")), "m.txt:1:1: 'a' calls itself");
}

// Computations have 11 instructions each, of which 10 call the previous computation: they reach 1,
// 21, 221, ..., and t7 22222221; the text has 100.
TEST(HloEndlessCalls, WhatReachesTooMuchIsRefused) {
    std::string text = "t0 {\n ROOT x = f32[] constant(1)\n}\n";
    for (int i = 1; i < 10; ++i) {
        text += "t" + std::to_string(i) + " {\n x = f32[] constant(1)\n";
        for (int call = 0; call < 10; ++call) {
            text += " y" + std::to_string(call) + " = f32[] call(), to_apply=t" +
                    std::to_string(i - 1) + "\n";
        }
        text += "}\n";
    }
    // A computation of 11 instructions has 13 lines; t7 begins behind 3 + 6 x 13 of them.
    EXPECT_EQ(refused(text), "m.txt:82:1: 't7' reaches more than 4000100 instructions");
}

// Nothing calls u1 to u19, which reach 222221 each as t5 does, and run one after the other if there
// is no ENTRY: 18 are 3999978.
TEST(HloEndlessCalls, WhatAllEntriesReachIsCounted) {
    std::string text = "t0 {\n ROOT x = f32[] constant(1)\n}\n";
    for (int i = 1; i < 25; ++i) {
        const int callee = std::min(i - 1, 4);
        text += "t" + std::to_string(i) + " {\n x = f32[] constant(1)\n";
        for (int call = 0; call < 10; ++call) {
            text += " y" + std::to_string(call) + " = f32[] call(), to_apply=t" +
                    std::to_string(callee) + "\n";
        }
        text += "}\n";
    }
    // t5 is the first of them, t23 the nineteenth: 19 x 222221 is more than 4000000 + 265.
    EXPECT_EQ(refused(text),
              "m.txt:290:1: 't23' reaches more than 4000265 instructions with those before it");
}

// A conditional's branches are walked for the choice, and the longest again: b0 has 3 instructions,
// and 40 conditionals are around it.
TEST(HloEndlessCalls, BranchesWithinBranchesCountOnceMore) {
    const auto nested = [](int body) {
        std::string text = "b0 {\n p = f32[] parameter(0)\n";
        for (int i = 0; i < body; ++i) {
            text += " n" + std::to_string(i) + " = f32[] negate(p)\n";
        }
        text += "}\n";
        for (int i = 1; i <= 40; ++i) {
            text += "b" + std::to_string(i) +
                    " {\n p = f32[] parameter(0)\n ROOT c = f32[] conditional(p, p), "
                    "branch_computations={b" +
                    std::to_string(i - 1) + "}\n}\n";
        }
        return text;
    };
    EXPECT_EQ(refused(nested(1000)), "none");
    // Each chooses among 200001 instructions and those of the inner conditionals: 20 of them are
    // 4000400, so that only the 21st exceeds 4000000 + 200081.
    EXPECT_EQ(refused(nested(200000)),
              "m.txt:200084:1: 'b21' reaches more than 4200081 instructions with those before it");
}

}  // namespace
}  // namespace podsim::workloads::hlo
