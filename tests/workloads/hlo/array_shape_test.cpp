// Shapes of HLO text, and their bytes, padded by hand.
#include "workloads/hlo/array_shape.h"

#include <gtest/gtest.h>
#include <string>

#include "sim/base/error.h"

namespace podsim::workloads::hlo {
namespace {

Shape shape_of(const std::string& written) {
    Text text(written);
    return read_shape(text);
}

double stored(const std::string& written) {
    return shape_of(written).stored_bytes().value();
}

std::string shape_error(const std::string& written) {
    try {
        Text text(written, "m");
        read_shape(text);
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(HloShape, ArraysTuplesAndTokens) {
    const Shape array = shape_of("bf16[8,<=128]{1,0:T(8,128)(2,1)S(1)}");
    EXPECT_EQ(array.element, "bf16");
    EXPECT_EQ(array.dims, (std::vector<std::int64_t>{8, 128}));
    EXPECT_EQ(array.layout.memory_space, kVmemSpace);
    EXPECT_EQ(array.layout.tiles.size(), 2U);
    EXPECT_EQ(array.bytes().value(), 2048);
    const Shape tuple = shape_of("((f32[2], token[]), /*index=1*/ s32[]{:S(2)}, b(u8[3]))");
    ASSERT_EQ(tuple.parts.size(), 3U);
    EXPECT_EQ(tuple.parts[0].parts[1].kind, Shape::Kind::token);
    EXPECT_EQ(tuple.bytes().value(), 8 + 4 + 3);
    EXPECT_EQ(arrays_of(tuple).size(), 3U);
}

// The last dimensions in memory are padded to the first tile: 100 x 200 to 104 x 256, of 2 bytes.
// With {0,1} the dimensions are exchanged: in tiles of (8,128) 200 stays 200 and 100 becomes 128.
TEST(HloShape, TilesPadTheMostMinorDimensions) {
    EXPECT_EQ(stored("bf16[100,200]{1,0:T(8,128)(2,1)}"), 104 * 256 * 2);
    EXPECT_EQ(stored("bf16[100,200]{0,1:T(8,128)}"), 200 * 128 * 2);
    EXPECT_EQ(stored("f32[512,3]{0,1:T(4,128)}"), 4 * 512 * 4);
    EXPECT_EQ(stored("f32[5,3,130]{2,1,0:T(4,128)}"), 5 * 4 * 256 * 4);
    EXPECT_EQ(stored("f32[1000]{0:T(1024)}"), 1024 * 4);
    EXPECT_EQ(stored("f32[]{:T(128)}"), 4);
    EXPECT_EQ(stored("f32[100,200]{1,0}"), 100 * 200 * 4);
}

TEST(HloShape, FourBitsPackOnlyWhereTheLayoutSaysSo) {
    EXPECT_EQ(stored("u4[1024,512]{1,0:E(4)}"), 1024 * 512 / 2);
    EXPECT_EQ(stored("u4[1024,512]{1,0}"), 1024 * 512);
    EXPECT_EQ(shape_of("u4[1024,512]{1,0:E(4)}").bytes().value(), 1024 * 512 / 2);
    for (const char* const six : {"f6e3m2fn", "f6e2m3fn"}) {
        EXPECT_EQ(stored(six + std::string("[1024,512]")), 1024 * 512);
        EXPECT_EQ(stored(six + std::string("[1024,512]{1,0:E(6)}")), 1024 * 512 * 3 / 4);
    }
    EXPECT_EQ(shape_of("u4[1024,512]{1,0}").bytes().value(), 1024 * 512);
}

TEST(HloShape, BracesBehindABlankAreNoLayout) {
    Text text("f32[] { body }");
    EXPECT_EQ(read_shape(text).elements(), 1);
    EXPECT_TRUE(text.take("{"));
}

// A regression: a tile of 2^63 - 1 gave 0 bytes, and dimensions beyond 64 bits gave infinite ones.
TEST(HloShape, SizesDoNotWrap) {
    const std::string large = "m:1:1: an array of 2^63 bytes or more";
    EXPECT_EQ(shape_error("f32[8,8]{1,0:T(9223372036854775807,2)}"), large);
    EXPECT_EQ(shape_error("f32[8,8]{1,0:T(4611686018427387904,128)}"), large);
    EXPECT_EQ(shape_error("f32[4294967296,4294967296]"), large);
    EXPECT_EQ(shape_error("f32[2305843009213693952]"), large);
    EXPECT_EQ(shape_of("f32[2305843009213693951]").bytes().value(), 0x1p63);  // rounded from - 4
    EXPECT_EQ(shape_of("s8[9223372036854775807]").elements(), 0x1p63);
    EXPECT_EQ(shape_of("f32[0,4294967296,4294967296]").bytes().value(), 0);
    EXPECT_EQ(shape_error("f32[9223372036854775808]"), "m:1:5: expected a whole number");
    EXPECT_EQ(shape_error("(f32[2], f32[4294967296,4294967296])"),
              "m:1:10: an array of 2^63 bytes or more");
}

// A regression: 2^32 became axis 0, or 0 bits.
TEST(HloShape, NumbersOfLayouts) {
    EXPECT_EQ(shape_error("f32[2]{4294967296}"),
              "m:1:8: 4294967296 stands in a layout where 0 to 65536 may");
    EXPECT_EQ(shape_error("u4[2]{0:E(4294967300)}"),
              "m:1:11: 4294967300 stands in a layout where 1 to 65536 may");
    EXPECT_EQ(shape_error("u4[2]{0:E(-4)}"), "m:1:11: -4 stands in a layout where 1 to 65536 may");
    EXPECT_EQ(shape_error("u4[2]{0:S(4294967296)}"),
              "m:1:11: 4294967296 stands in a layout where 0 to 65536 may");
    EXPECT_EQ(shape_error("f32[2]{0:T(0)}"), "m:1:13: a tile of a length below 1");
    EXPECT_EQ(shape_error("f32[2]{0:T(-8)}"), "m:1:14: a tile of a length below 1");
}

TEST(HloShape, SumsOfTuples) {
    const Shape shape = shape_of("(f32[8]{0:S(5)}, (f32[3]{0:T(8)}, token[]), s8[4]{0:S(1)})");
    EXPECT_EQ(shape.sums.elements, 8 + 3 + 4);
    EXPECT_EQ(shape.bytes().value(), 32 + 12 + 4);
    EXPECT_EQ(shape.stored_bytes().value(), 32 + 32 + 4);
    EXPECT_EQ(shape.sums.in_hbm.value(), 32);
    EXPECT_TRUE(shape.sums.at_host);
    EXPECT_EQ(shape.sums.first_space, kHostSpace);
    EXPECT_EQ(shape_of("((), token[])").sums.first_space, -1);
}

TEST(HloShape, PartsHaveALimit) {
    std::string text = "(";
    for (std::size_t i = 0; i < kMostParts; ++i) {
        text += "(),";
    }
    EXPECT_EQ(shape_error(text + ")"), "none");
    EXPECT_EQ(shape_error(text + "())"), "m:1:786434: a shape of more than 262144 parts");
}

TEST(HloShape, ErrorsSayWhere) {
    EXPECT_EQ(shape_error("q7[2]"), "m:1:1: unknown element type 'q7'");
    EXPECT_EQ(shape_error("f32[2,?]"), "m:1:8: a dimension of unknown length");
    EXPECT_EQ(shape_error("f32[2,3]{1,1}"), "m:1:14: the layout does not fit the dimensions");
    EXPECT_EQ(shape_error("(f32[2] f32[3])"), "m:1:9: expected ')' but found 'f32[3])'");
    EXPECT_EQ(shape_error(std::string(100, '(')),
              "m:1:66: tuples within tuples, more than 64 deep");
}

}  // namespace
}  // namespace podsim::workloads::hlo
