// Numbers for people, aligned columns, quoted input.
#include "scenarios/src/base/format.h"

#include <gmock/gmock.h>

#include "scenarios/src/base/file_error.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/base/table.h"

namespace podsim::scenarios {
namespace {

using ::testing::ElementsAre;

TEST(Text, FourSignificantDigits) {
    EXPECT_EQ(format_time(2.3456), "2.346 s");
    EXPECT_EQ(format_time(0.9999999), "1.000 s");
    EXPECT_EQ(format_time(1.5e-6), "1.500 us");
    EXPECT_EQ(format_time(0), "0 s");
    EXPECT_EQ(format_bytes(sim::Bytes(95.5e9)), "95.50 GB");
    EXPECT_EQ(format_count(70.55e9), "70.55G");
    EXPECT_EQ(format_percent(0.45678), "45.68 %");
    EXPECT_EQ(format_rate(sim::BytesPerSecond::infinity()), "inf");
}

TEST(Text, ApportionKeepsTheTotal) {
    EXPECT_THAT(apportion(std::vector<double>{1, 1, 1}, 10), ElementsAre(4, 3, 3));
    EXPECT_THAT(apportion(std::vector<double>{0, 5, 5}, 1), ElementsAre(0, 1, 0));
    EXPECT_THAT(apportion(std::vector<double>{3, -1}, 4), ElementsAre(6, -2));
    EXPECT_THAT(apportion(std::vector<double>{0, 0}, 4), ElementsAre(0, 0));
}

// Values that are rounded up to the next prefix or to one more digit.
TEST(Text, DigitsMoveWhereRoundingCarries) {
    EXPECT_EQ(format_time(9.9994), "9.999 s");
    EXPECT_EQ(format_time(9.9996), "10.00 s");
    EXPECT_EQ(format_time(99.994), "99.99 s");
    EXPECT_EQ(format_time(99.996), "100.0 s");
    EXPECT_EQ(format_time(999.94), "999.9 s");
    EXPECT_EQ(format_time(999.96), "1000 s");
    EXPECT_EQ(format_time(0.99994), "999.9 ms");
    EXPECT_EQ(format_time(0.99996), "1.000 s");
    EXPECT_EQ(format_time(2e-12), "2.000 ps");
    EXPECT_EQ(format_time(2e-13), "0.200 ps");
    EXPECT_EQ(format_time(-0.0025), "-2.500 ms");
    EXPECT_EQ(format_time(3e-9), "3.000 ns");
}

TEST(Text, PrefixesAreDecimal) {
    EXPECT_EQ(format_bytes(sim::Bytes(0)), "0 B");
    EXPECT_EQ(format_bytes(sim::Bytes(999)), "999.0 B");
    EXPECT_EQ(format_bytes(sim::Bytes(1024)), "1.024 kB");
    EXPECT_EQ(format_bytes(sim::Bytes(1e6)), "1.000 MB");
    EXPECT_EQ(format_bytes(sim::Bytes(2e12)), "2.000 TB");
    EXPECT_EQ(format_bytes(sim::Bytes(3e15)), "3.000 PB");
    EXPECT_EQ(format_rate(sim::BytesPerSecond(9e10)), "90.00 GB/s");
    EXPECT_EQ(format_flops_rate(sim::FlopsPerSecond(4.59e14)), "459.0 TFLOP/s");
    EXPECT_EQ(format_count(0), "0");
    EXPECT_EQ(format_count(12), "12.00");
    EXPECT_EQ(format_percent(1), "100.0 %");
    EXPECT_EQ(format_percent(-0.5), "-50.00 %");
}

// 1/2 and 1/2 of 3: equal remainders go to the earlier position. Negative weights round down
// like others.
TEST(Text, ApportionGivesLargestRemaindersFirst) {
    EXPECT_THAT(apportion(std::vector<double>{1, 1}, 3), ElementsAre(2, 1));
    EXPECT_THAT(apportion(std::vector<double>{1, 2, 7}, 5), ElementsAre(1, 1, 3));
    EXPECT_THAT(apportion(std::vector<double>{1, 8, 1}, 4), ElementsAre(1, 3, 0));
    EXPECT_THAT(apportion(std::vector<double>{-1, 3}, 5), ElementsAre(-2, 7));
    EXPECT_THAT(apportion(std::vector<double>{-1, -1}, -3), ElementsAre(-1, -2));
    EXPECT_THAT(apportion(std::vector<double>{1, 1}, 0), ElementsAre(0, 0));
}

// Numbers are flush right, the first column and marked ones flush left, with two blanks between and
// none at the end of a line. An accented letter is one column wide.
TEST(Text, TablesAlignTheirColumns) {
    Table table({2});
    table.row({"name", "n", "text", "m"});
    table.row({"\xc3\xa9", "100", "a"});
    table.row({"long name", "1", "", "22"});
    EXPECT_EQ(table.text(1),
              " name         n  text   m\n"
              " \xc3\xa9          100  a\n"
              " long name    1        22\n");
    EXPECT_EQ(Table().text(4), "");
}

TEST(Text, QuotedInputIsPrintableAndShort) {
    EXPECT_EQ(in_quotes("v5p"), "'v5p'");
    EXPECT_EQ(printable(std::string_view("a\x1f\x7f b\n", 6)), "a\\x1f\\x7f b\\x0a");
    EXPECT_EQ(printable(std::string(60, 'x')), std::string(60, 'x'));
    EXPECT_EQ(printable(std::string(61, 'x')), std::string(60, 'x') + "...");
    // The 60th byte is the first of two: the whole character is left out.
    EXPECT_EQ(printable(std::string(59, 'x') + "\xc3\xa9"), std::string(59, 'x') + "...");
    EXPECT_EQ(one_line("a\nb\tc\x7f d"), "a b c  d");
    // C1 (U+009B begins a terminal's command) and U+202E, which reverses the direction of writing,
    // are escaped; other characters of as many bytes are shown.
    EXPECT_EQ(printable("a\xc2\x9b\xe2\x80\xae"), "a\\xc2\\x9b\\xe2\\x80\\xae");
    EXPECT_EQ(printable("\xc2\xa0\xe2\x80\x93\xc3\xa9"), "\xc2\xa0\xe2\x80\x93\xc3\xa9");
    // Bytes that are not UTF-8, wherever a message quotes them: alone, cut off, an overlong form,
    // a surrogate.
    EXPECT_EQ(one_line("found '\xff\xc3\xa9'"), "found '\\xff\xc3\xa9'");
    EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
    EXPECT_EQ(printable("\xc0\x80 \xed\xa0\x80"), "\\xc0\\x80 \\xed\\xa0\\x80");
    EXPECT_TRUE(has_hidden_character("ab\xe2\x81\xa6"));
    EXPECT_FALSE(has_hidden_character("\xe2\x80\x94 caf\xc3\xa9"));
}

TEST(Text, FilesThatCannotBeWrittenSayWhy) {
    EXPECT_STREQ(cannot_write("--json", "x", ENOENT).what(),
                 "cannot write 'x': No such file or directory; give --json a path that can be "
                 "written");
    EXPECT_STREQ(cannot_write("--csv", "y", 0).what(),
                 "cannot write 'y': unknown reason; give --csv a path that can be written");
}

}  // namespace
}  // namespace podsim::scenarios
