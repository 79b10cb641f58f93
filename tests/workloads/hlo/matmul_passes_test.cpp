// Passes of the systolic array for every precision and
// algorithm of XLA's grammar, over the types of operands.
#include "workloads/hlo/matmul_passes.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "sim/base/error.h"
#include "workloads/hlo/items.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

Module precise_dot(const std::string& left, const std::string& right, const std::string& more) {
    return read_module("e {\n a = " + left + "[64,32] parameter(0)\n b = " + right +
                           "[32,16] parameter(1)\n ROOT d = f32[64,16] dot(a, b), "
                           "lhs_contracting_dims={1}, rhs_contracting_dims={0}" +
                           more + "\n}\n",
                       "m.txt");
}

double passes_with(const std::string& left, const std::string& right, const std::string& more) {
    const Module module = precise_dot(left, right, more.empty() ? more : ", " + more);
    const Computation& entry = module.computations[0];
    return passes_of(module, entry.root_instruction(), entry.instructions[0].shape,
                     entry.instructions[1].shape)
        .passes;
}

// An operand of fp32 is p = 1, 2 or 3 parts of bf16, the i-th 2^-8i as large. Products matter if
// their orders i + j are below p: p (p + 1) / 2, and p if the other operand is one part.
TEST(HloPrecision, PassesAreTheProductsOfPartsThatMatter) {
    const auto products = [](int left, int right, int parts) {
        int count = 0;
        for (int i = 0; i < left; ++i) {
            for (int j = 0; j < right; ++j) {
                count += i + j < parts ? 1 : 0;
            }
        }
        return count;
    };
    const std::pair<const char*, int> precisions[]{{"default", 1}, {"high", 2}, {"highest", 3}};
    for (const auto& [name, parts] : precisions) {
        const std::string both = std::string("operand_precision={") + name + "," + name + "}";
        EXPECT_EQ(passes_with("f32", "f32", both), products(parts, parts, parts)) << name;
        EXPECT_EQ(passes_with("f32", "bf16", both), products(parts, 1, parts)) << name;
        EXPECT_EQ(passes_with("bf16", "f32", both), products(1, parts, parts)) << name;
        for (const char* const narrow : {"bf16", "f16", "f8e4m3fn", "s8", "f64"}) {
            EXPECT_EQ(passes_with(narrow, narrow, both), 1) << name << ' ' << narrow;
        }
    }
    EXPECT_EQ(passes_with("f32", "f32", ""), 1);
    EXPECT_EQ(passes_with("f32", "f32", "operand_precision={}"), 1);
    // The larger of two precisions decides, for either operand.
    EXPECT_EQ(passes_with("f32", "f32", "operand_precision={highest,default}"), 6);
    EXPECT_EQ(passes_with("f32", "f32", "operand_precision={default,high}"), 3);
}

TEST(HloPrecision, EveryAlgorithm) {
    const std::pair<const char*, double> all[]{{"unset", 1},
                                               {"dot_any_f8_any_f8_f32", 1},
                                               {"dot_any_f8_any_f8_f32_fast_accum", 1},
                                               {"dot_f16_f16_f16", 1},
                                               {"dot_f16_f16_f32", 1},
                                               {"dot_bf16_bf16_bf16", 1},
                                               {"dot_bf16_bf16_f32", 1},
                                               {"dot_bf16_bf16_f32_x3", 3},
                                               {"dot_bf16_bf16_f32_x6", 6},
                                               {"dot_bf16_bf16_f32_x9", 9},
                                               {"dot_tf32_tf32_f32", 3},
                                               {"dot_tf32_tf32_f32_x3", 6},
                                               {"dot_f32_f32_f32", 6},
                                               {"dot_f64_f64_f64", 1}};
    for (const auto& [name, expected] : all) {
        EXPECT_EQ(passes_with("f32", "f32", std::string("algorithm=") + name), expected) << name;
        EXPECT_EQ(passes_with("bf16", "bf16", std::string("algorithm=") + name), 1) << name;
    }
    // The algorithm replaces the precision; without one the precision decides.
    EXPECT_EQ(passes_with("f32", "f32",
                          "operand_precision={highest,highest}, algorithm=dot_bf16_bf16_f32"),
              1);
    EXPECT_EQ(passes_with("f32", "f32", "operand_precision={high,high}, algorithm=unset"), 3);
}

std::string precision_error(const std::string& more) {
    try {
        passes_with("f32", "f32", more);
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(HloPrecision, WhatTheGrammarDoesNotHave) {
    EXPECT_EQ(precision_error("operand_precision={highest,higest}"),
              "m.txt:4:7: 'd': unknown precision 'higest'; did you mean 'highest'? allowed: "
              "default, high, highest");
    EXPECT_TRUE(precision_error("algorithm=dot_bf16_bf16_f32_x4")
                    .starts_with("m.txt:4:7: 'd': unknown algorithm 'dot_bf16_bf16_f32_x4'; did "
                                 "you mean 'dot_bf16_bf16_f32_x"));
}

// FLOPs stay those of the mathematics. The kernel's passes are the mean by FLOPs: 2 x 65536 at 6
// passes beside 65536 at 1.
TEST(HloPrecision, AKernelHasThePassesOfItsMatmuls) {
    const Module module = read_module(R"(
%two (a: f32[64,32], b: f32[32,32]) -> f32[64,16] {
  %a = f32[64,32] parameter(0)
  %b = f32[32,32] parameter(1)
  %x = f32[64,32] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
  %c = f32[32,16] slice(%b), slice={[0:32], [0:16]}
  ROOT %y = f32[64,16] convolution(%x, %c), dim_labels=bf_io->bf
}
ENTRY %m (a: f32[64,32], b: f32[32,32]) -> f32[64,16] {
  %a = f32[64,32] parameter(0)
  %b = f32[32,32] parameter(1)
  ROOT %f = f32[64,16] fusion(%a, %b), kind=kOutput, calls=%two
}
)",
                                      "m.txt");
    const CostRules rules;
    const std::vector<Item> items = ModuleItems(module, rules).of(module.computations[1]);
    ASSERT_EQ(items.size(), 1U);
    EXPECT_EQ(items[0].work.flops.value(), 2.0 * 64 * 32 * (32 + 16));
    EXPECT_DOUBLE_EQ(items[0].work.passes, (6 * 32.0 + 16) / (32 + 16));
    ASSERT_EQ(items[0].matmuls.size(), 2U);
    EXPECT_EQ(items[0].matmuls[0].types, "f32 highest");
    EXPECT_EQ(items[0].matmuls[1].types, "f32");
}

}  // namespace
}  // namespace podsim::workloads::hlo
