// FLOPs and shapes of dot and convolution, by hand and against a count of every pair of positions.
#include "workloads/hlo/matmuls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

Matmul matmul(const std::string& left, const std::string& right, const std::string& result,
              const std::string& rest, const std::string& sizes = "s32[1]") {
    const Module module = read_module(
        fmt::format("e {{\n a = {} parameter(0)\n b = {} parameter(1)\n s = {} parameter(2)\n c = "
                    "{} {}\n}}\n",
                    left, right, sizes, result, rest),
        "m");
    const Computation& computation = module.computations[0];
    Budget budget(module);
    return matmul_of(module, computation, computation.root_instruction(), budget);
}

void expect_shape(const Matmul& found, double m, double k, double n, double count) {
    EXPECT_EQ(found.shape.m, m);
    EXPECT_EQ(found.shape.k, k);
    EXPECT_EQ(found.shape.n, n);
    EXPECT_EQ(found.shape.count, count);
    EXPECT_EQ(found.flops(), 2 * m * k * n * count);
}

TEST(HloMatmuls, DotsWithBatchAndSeveralContractedDimensions) {
    expect_shape(matmul("bf16[3,5,7,11]", "bf16[3,7,13,11]", "bf16[3,5,13]",
                        "dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                        "lhs_contracting_dims={2,3}, rhs_contracting_dims={1,3}"),
                 5, 77, 13, 3);
    expect_shape(matmul("f32[4]", "f32[4]", "f32[]",
                        "dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
                 1, 4, 1, 1);
}

// There are 2 b m k n FLOPs, whichever dimension the groups divide: every row meets one matrix,
// every part of the contraction one group, every batch is in one.
TEST(HloMatmuls, RaggedDotsInTheirThreeModes) {
    // 8192 rows of 4096 in 8 groups of 1024 on average: 2 x 8192 x 4096 x 4096.
    const Matmul rows =
        matmul("bf16[8192,4096]", "bf16[8,4096,4096]", "bf16[8192,4096]",
               "ragged-dot(a, b, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
               "lhs_ragged_dims={0}, rhs_group_dims={0}",
               "s32[8]");
    expect_shape(rows, 1024, 4096, 4096, 8);
    EXPECT_EQ(rows.flops(), 2.0 * 8192 * 4096 * 4096);
    // With 2 batches of 12 rows, 3 groups: 6 matmuls of 4 x 5 x 7.
    expect_shape(matmul("f32[2,12,5]", "f32[3,2,5,7]", "f32[2,12,7]",
                        "ragged-dot(a, b, s), lhs_batch_dims={0}, rhs_batch_dims={1}, "
                        "lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1}, "
                        "rhs_group_dims={0}",
                        "s32[2,3]"),
                 4, 5, 7, 6);
    // In the gradient of the matrices 12 rows are contracted,
    // 4 in each of 3 groups, each with a result of 5 x 7.
    expect_shape(matmul("f32[12,5]", "f32[12,7]", "f32[3,5,7]",
                        "ragged-dot(a, b, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
                        "lhs_ragged_dims={0}",
                        "s32[3]"),
                 5, 4, 7, 3);
    // There are 6 batches, in any groups.
    expect_shape(matmul("f32[6,4,5]", "f32[6,5,7]", "f32[6,4,7]",
                        "ragged-dot(a, b, s), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                        "lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0}",
                        "s32[3]"),
                 4, 5, 7, 6);
    EXPECT_THROW(matmul("f32[4,5]", "f32[3,5,7]", "f32[4,7]",
                        "ragged-dot(a, b, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
                        "rhs_group_dims={0}"),
                 sim::InputError);
    EXPECT_THROW(matmul("f32[4,5]", "f32[3,5,7]", "f32[4,7]",
                        "ragged-dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
                        "lhs_ragged_dims={0}, rhs_group_dims={0}"),
                 sim::InputError);
}

TEST(HloMatmuls, AScaledDotIsADot) {
    expect_shape(
        matmul("f8e4m3fn[32,256]", "f8e4m3fn[16,256]", "f32[32,16]",
               "scaled-dot(a, b, s, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
               "f8e8m0fnu[32,8]"),
        32, 256, 16, 1);
}

TEST(HloMatmuls, ConvolutionsThatAreMatmuls) {
    expect_shape(matmul("bf16[64,128]", "bf16[128,256]", "bf16[64,256]",
                        "convolution(a, b), dim_labels=bf_io->bf"),
                 64, 128, 256, 1);
    expect_shape(matmul("bf16[128,64]", "bf16[256,128]", "bf16[64,256]",
                        "convolution(a, b), dim_labels=fb_oi->bf"),
                 64, 128, 256, 1);
    // A spatial dimension with a window of 1 adds rows.
    expect_shape(matmul("bf16[4,32,128]", "bf16[1,128,256]", "bf16[4,32,256]",
                        "convolution(a, b), window={size=1}, dim_labels=b0f_0io->b0f"),
                 4 * 32, 128, 256, 1);
}

// XLA writes a batched matmul of 32 heads so. Only one of 32 window positions meets the input, so
// the plain 2 x outputs x window x features is 32 times too much.
TEST(HloMatmuls, TheBatchIsASpatialDimension) {
    expect_shape(matmul("bf16[128,4096,1]", "bf16[32,4096,128]", "bf16[128,32,128]",
                        "convolution(a, b), window={size=32 pad=31_31 rhs_reversal=1}, "
                        "dim_labels=bf0_0io->b0f"),
                 128, 4096, 128, 32);
}

// 32 heads are contracted: one output position, 32 pairs.
TEST(HloMatmuls, AContractedSpatialDimension) {
    expect_shape(matmul("bf16[128,32,128]", "bf16[32,128,4096]", "bf16[128,4096,1]",
                        "convolution(a, b), window={size=32}, dim_labels=b0f_0io->bf0"),
                 128, 32 * 128, 4096, 1);
}

// For 3 x 3 on 112 x 112, padded by 1, rows are positions, and the inner dimension is the mean
// number of features that meet one.
TEST(HloMatmuls, AConvolutionOfImages) {
    const Matmul found =
        matmul("bf16[8,112,112,128]", "bf16[3,3,128,64]", "bf16[8,112,112,64]",
               "convolution(a, b), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
    const double met = 112 * 3 - 2;
    EXPECT_EQ(found.shape.m, 8 * 112 * 112);
    EXPECT_DOUBLE_EQ(found.shape.k, 128 * (met / 112) * (met / 112));
    EXPECT_EQ(found.shape.n, 64);
    EXPECT_EQ(found.shape.count, 1);
    EXPECT_EQ(found.flops(), 2.0 * 8 * 128 * 64 * met * met);
    EXPECT_TRUE(matmul("bf16[4,64,32]", "bf16[4,1,32]", "bf16[4,64,32]",
                       "convolution(a, b), window={size=4 pad=3_0}, dim_labels=b0f_0io->b0f, "
                       "feature_group_count=32")
                    .depthwise);
}

TEST(HloMatmuls, Dtypes) {
    const std::string rest = "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    const auto of = [&](const std::string& left, const std::string& right) {
        return matmul(left + "[2,2]", right + "[2,2]", "f32[2,2]", rest).dtype;
    };
    EXPECT_EQ(of("bf16", "bf16"), MatmulDtype::bf16);
    EXPECT_EQ(of("f32", "f32"), MatmulDtype::bf16);
    EXPECT_EQ(of("f8e4m3fn", "f8e5m2"), MatmulDtype::fp8);
    EXPECT_EQ(of("s8", "s8"), MatmulDtype::int8);
    EXPECT_EQ(of("bf16", "s8"), MatmulDtype::bf16);
}

// For random strides, paddings and dilations the count agrees with the pairs of output and window
// positions that meet an input, one by one.
TEST(HloMatmuls, RandomConvolutionsAgainstACount) {
    std::mt19937 random(11);
    const auto pick = [&](int least, int most) {
        return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
    };
    for (int round = 0; round < 400; ++round) {
        const int input = pick(1, 9);
        const int size = pick(2, 6);
        const int stride = pick(1, 3);
        const int low = pick(-1, 5);
        const int high = pick(0, 5);
        const int apart = pick(1, 3);
        const int wide = pick(1, 3);
        const int span = (input - 1) * apart + 1 + low + high - (size - 1) * wide - 1;
        if (span < 0) {
            continue;
        }
        const int output = span / stride + 1;
        double met = 0;
        for (int o = 0; o < output; ++o) {
            for (int w = 0; w < size; ++w) {
                const int at = o * stride - low + w * wide;
                met += at >= 0 && at <= (input - 1) * apart && at % apart == 0;
            }
        }
        const Matmul found = matmul(
            fmt::format("f32[2,{},3]", input), fmt::format("f32[{},3,5]", size),
            fmt::format("f32[2,{},5]", output),
            fmt::format("convolution(a, b), window={{size={} stride={} pad={}_{} lhs_dilate={} "
                        "rhs_dilate={}}}, dim_labels=b0f_0io->b0f",
                        size, stride, low, high, apart, wide));
        EXPECT_EQ(found.flops(), 2 * 2 * 3 * 5 * met);
    }
}

TEST(HloMatmuls, LabelsThatDoNotFit) {
    EXPECT_THROW(
        matmul("f32[2]", "f32[2,2]", "f32[2,2]", "convolution(a, b), dim_labels=bf_io->bf"),
        sim::InputError);
    EXPECT_THROW(matmul("f32[2,2]", "f32[2,2]", "f32[2,2]", "convolution(a, b)"), sim::InputError);
    EXPECT_THROW(matmul("f32[2,9,3]", "f32[2,3,5]", "f32[2,9,5]",
                        "convolution(a, b), window={size=2 rhs_dilate=0}, dim_labels=b0f_0io->b0f"),
                 sim::InputError);
    EXPECT_THROW(matmul("f32[2,2]", "f32[2,2]", "f32[2,2]", "dot(a, b), lhs_contracting_dims={5}"),
                 sim::InputError);
}

// The sizes of one operand counted, whatever the other's were.
TEST(HloMatmuls, DimensionsThatDoNotMeet) {
    const auto problem = [](const std::string& dims) {
        try {
            matmul("f32[2,3,4]", "f32[2,5,4]", "f32[8]", "dot(a, b), " + dims);
        } catch (const sim::InputError& error) {
            return error.problem();
        }
        return std::string("none");
    };
    const std::string lhs = "lhs_contracting_dims=";
    const std::string rhs = ", rhs_contracting_dims=";
    const std::string batch = ", lhs_batch_dims={0}, rhs_batch_dims=";
    EXPECT_EQ(problem(lhs + "{2}" + rhs + "{2}" + batch + "{0}"), "none");
    EXPECT_EQ(problem(lhs + "{1}" + rhs + "{1}" + batch + "{0}"),
              "'c': contracting dimensions of its operands that differ");
    EXPECT_EQ(problem(lhs + "{2}"), "'c': contracting dimensions of its operands that differ");
    EXPECT_EQ(problem(lhs + "{2}" + rhs + "{2}" + batch + "{1}"),
              "'c': batch dimensions of its operands that differ");
    EXPECT_EQ(problem(lhs + "{0}" + rhs + "{0}" + batch + "{0}"),
              "'c': the dimension 0 of an operand twice");
    EXPECT_EQ(problem(lhs + "{2}" + rhs + "{0}" + batch + "{0}"),
              "'c': the dimension 0 of an operand twice");
    EXPECT_EQ(problem(lhs + "{3}" + rhs + "{2}"),
              "'c': a dimension that its operand does not have");
    EXPECT_EQ(problem(lhs + "{2}" + rhs + "{2}, lhs_batch_dims={0}, rhs_batch_dims={3}"),
              "'c': a dimension that its operand does not have");
}

// The last of two counted, a missing one was 1, and an unknown one nothing.
TEST(HloMatmuls, WindowsOfTheLabels) {
    const auto problem = [](const std::string& rest) {
        try {
            matmul("bf16[4,9,6]", "bf16[2,3,4]", "bf16[4,8,4]",
                   "convolution(a, b), dim_labels=b0f_0io->b0f" + rest);
        } catch (const sim::InputError& error) {
            return error.problem();
        }
        return std::string("none");
    };
    EXPECT_EQ(problem(", window={size=2 rhs_reversal=1}"), "none");
    EXPECT_EQ(problem(", window={size=2 stride=1 size=2}"), "'c': a window with size twice");
    EXPECT_EQ(problem(", window={size=2 strides=1}"), "'c': a window of 'strides=1'");
    const std::string others = " dimensions in a window, of 1 in dim_labels";
    EXPECT_EQ(problem(", window={size=2x2}"), "'c': size of 2" + others);
    EXPECT_EQ(problem(", window={size=2 pad=0_0x0_0}"), "'c': pad of 2" + others);
    EXPECT_EQ(problem(", window={size=2 rhs_reversal=1x0}"), "'c': rhs_reversal of 2" + others);
    const std::string none = "'c': a window without size, of 1 dimensions in dim_labels";
    EXPECT_EQ(problem(", window={}"), none);
    EXPECT_EQ(problem(", window={stride=1}"), none);
    EXPECT_EQ(problem(""), none);
    EXPECT_EQ(problem(", window={size=2}, batch_group_count=2"), "none");
    EXPECT_EQ(problem(", window={size=2}, batch_group_count=3"),
              "'c': batch_group_count=3 does not divide 4");
    EXPECT_EQ(problem(", window={size=2}, batch_group_count=0"),
              "'c': batch_group_count=0, which is no whole number of at least 1");
    EXPECT_EQ(problem(", window={size=2}, feature_group_count=2"), "none");
    EXPECT_EQ(problem(", window={size=2}, feature_group_count=4"),
              "'c': feature_group_count=4 does not divide 6");
    EXPECT_EQ(problem(", window={size=2}, feature_group_count=3"),
              "'c': feature_group_count=3 does not divide 4");
    EXPECT_EQ(problem(", window={size=2}, feature_group_count=-1"),
              "'c': feature_group_count=-1, which is no whole number of at least 1");
}

std::string window_error(const std::string& rest) {
    try {
        matmul("bf16[2,9,3]", "bf16[2,3,4]", "bf16[2,8,4]", "convolution(a, b), " + rest);
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

// A regression: such numbers were read by their beginning, `1e3` as 1, or as 1 if they were below.
TEST(HloMatmuls, NumbersOfWindowsAndGroups) {
    const std::string labels = "dim_labels=b0f_0io->b0f";
    const std::string remedy = "; numbers of its dimensions stand as in size=3x3 and pad=1_1x0_0";
    EXPECT_EQ(window_error("window={size=1e3}, " + labels),
              "m:5:2: 'c': a window of 'e3'" + remedy);
    EXPECT_EQ(window_error("window={size=2 pad=0_0y}, " + labels),
              "m:5:2: 'c': a window of 'y'" + remedy);
    EXPECT_EQ(window_error("window={size=2x}, " + labels), "m:5:2: 'c': a window of ''" + remedy);
    EXPECT_EQ(window_error("window={size=99999999999999999999}, " + labels),
              "m:5:2: 'c': a window of '99999999999999999999'" + remedy);
    EXPECT_EQ(window_error("window={size=2 stride=2147483648}, " + labels),
              "m:5:2: 'c': a window that no convolution has");
    EXPECT_EQ(window_error("window={size=2 pad=-9223372036854775808_0}, " + labels),
              "m:5:2: 'c': a window that no convolution has");
    for (const std::string key : {"batch_group_count", "feature_group_count"}) {
        for (const std::string count : {"0", "-1", "1e3", "x", "18446744073709551617"}) {
            const std::string rest = "window={size=2}, dim_labels=b0f_0oi->b0f, ";
            const std::string error = window_error(rest + key + "=" + count);
            EXPECT_EQ(error, "m:5:2: 'c': " + key + "=" + count +
                                 ", which is no whole number of at least 1");
        }
    }
}

// A regression: a repeated dimension multiplied twice. A list of 1000 gave infinite FLOPs, which
// JSON cannot represent.
TEST(HloMatmuls, DimensionsThatStandTwice) {
    try {
        matmul("f32[8,8]", "f32[8,8]", "f32[8,8]",
               "dot(a, b), lhs_contracting_dims={1,1}, rhs_contracting_dims={0,0}");
        FAIL();
    } catch (const sim::InputError& error) {
        EXPECT_STREQ(error.what(), "m:5:2: 'c': the dimension 1 of an operand twice");
    }
}

// A window is as long as its input of n = 2^31 - 1: at output o it meets n - o, n (n + 1) / 2 in
// all. An empty output meets none.
TEST(HloMatmuls, WindowsOfAnySize) {
    const double n = 2147483647;
    EXPECT_EQ(matmul("bf16[1,2147483647,1]", "bf16[2147483647,1,1]", "bf16[1,2147483647,1]",
                     "convolution(a, b), window={size=2147483647}, dim_labels=b0f_0io->b0f")
                  .multiplications,
              n * (n + 1) / 2);
    EXPECT_EQ(matmul("bf16[1,0,1]", "bf16[3,1,1]", "bf16[1,0,1]",
                     "convolution(a, b), window={size=3}, dim_labels=b0f_0io->b0f")
                  .multiplications,
              0);
}

}  // namespace
}  // namespace podsim::workloads::hlo
