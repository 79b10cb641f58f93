#include "scenarios/src/base/quantity_text.h"

#include <clocale>
#include <cmath>
#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

std::string refusal(auto parse, std::string_view text) {
    try {
        static_cast<void>(parse(text));
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(QuantityText, DecimalAndBinaryPrefixesAreKeptApart) {
    EXPECT_EQ(parse_bytes("64 MiB").value(), 64.0 * 1024 * 1024);
    EXPECT_EQ(parse_bytes("64 MB").value(), 64e6);
    EXPECT_EQ(parse_bytes("1 GiB").value(), 1073741824.0);
    EXPECT_EQ(parse_bytes("16GB").value(), 16e9);
    EXPECT_EQ(parse_bytes("0 B").value(), 0);
    EXPECT_EQ(parse_rate("90 GB/s").value(), 90e9);
    EXPECT_EQ(parse_rate("1 GiB/s").value(), 1073741824.0);
}

TEST(QuantityText, BitsAreEighthsOfBytesAndOnlyRatesHaveThem) {
    EXPECT_EQ(parse_rate("200 Gb/s").value(), 25e9);
    EXPECT_EQ(
        refusal(parse_bytes, "8 Gb"),
        "'8 Gb' has the unknown unit 'Gb'; write a size such as 64 MiB; units: B, kB, MB, GB, "
        "TB, PB, KiB, MiB, GiB, TiB; nearest: GB");
}

TEST(QuantityText, TimesAreCorrectlyRounded) {
    EXPECT_EQ(parse_time("3 us").value(), 3e-6);
    EXPECT_EQ(parse_time("2.2 s").value(), 2.2);
    EXPECT_EQ(parse_time("750 ns").value(), 750e-9);
    EXPECT_EQ(parse_time("0 us").value(), 0);
    EXPECT_EQ(parse_percent("10 %"), 0.1);
    EXPECT_EQ(parse_percent("45%"), 0.45);
}

TEST(QuantityText, OtherDimensions) {
    EXPECT_EQ(parse_flops_rate("459 TFLOP/s").value(), 459e12);
    EXPECT_EQ(parse_flops_rate("918 TOP/s").value(), 918e12);
    EXPECT_EQ(parse_count("4Mi"), 4194304);
    EXPECT_EQ(parse_count("15T"), 15000000000000);
    EXPECT_EQ(parse_count("8192"), 8192);
    EXPECT_EQ(parse_count("1.5k"), 1500);
    EXPECT_EQ(parse_price("4.20 USD/chip-hour"), 4.20);
    EXPECT_EQ(parse_token_rate("1.9M tokens/s"), 1.9e6);
    EXPECT_EQ(parse_token_rate("1.9M"), 1.9e6);
    EXPECT_EQ(parse_bytes_or_number("1e9").value(), 1e9);
    EXPECT_EQ(parse_bytes_or_number("64 MiB").value(), 64.0 * 1024 * 1024);
}

TEST(QuantityText, InfiniteRatesAreAllowedAndNothingElseInfinite) {
    EXPECT_TRUE(std::isinf(parse_rate("inf GB/s").value()));
    EXPECT_EQ(refusal(parse_time, "inf s"),
              "'inf s' is infinite; write a time such as 1 us; units: ps, ns, us, ms, s");
    EXPECT_EQ(refusal(parse_bytes, "inf GB").substr(0, 20), "'inf GB' is infinite");
    EXPECT_EQ(refusal(parse_flops_rate, "inf TFLOP/s").substr(0, 25), "'inf TFLOP/s' is infinite");
}

TEST(QuantityText, ABareNumberIsAnError) {
    EXPECT_EQ(refusal(parse_time, "1"),
              "'1' has no unit; write a time such as 1 us; units: ps, ns, us, ms, s");
    EXPECT_EQ(refusal(parse_percent, "0.1"),
              "'0.1' has no unit; write a percentage such as 10 %; units: %");
    EXPECT_EQ(refusal(parse_price, "4.2"),
              "'4.2' has no unit; write a price such as 4.20 USD/chip-hour; units: USD/chip-hour");
}

TEST(QuantityText, WhatIsNotAUsefulNumberIsRefused) {
    const std::string units = "; write a time such as 1 us; units: ps, ns, us, ms, s";
    EXPECT_EQ(refusal(parse_time, "nan us"), "'nan us' is not a number" + units);
    EXPECT_EQ(refusal(parse_time, "-1 us"), "'-1 us' is negative" + units);
    EXPECT_EQ(refusal(parse_time, "-0 us"), "'-0 us' is negative" + units);
    EXPECT_EQ(refusal(parse_time, "1e999 us"), "'1e999 us' is out of range" + units);
    EXPECT_EQ(refusal(parse_time, "one us"), "'one us' is not a time" + units);
    EXPECT_EQ(refusal(parse_time, ""), "'' is not a time" + units);
    EXPECT_EQ(refusal(parse_time, "1,5 us"),
              "'1,5 us' has the unknown unit ',5 us'" + units + "; nearest: us");
    EXPECT_EQ(refusal(parse_bytes, "1e305 PB").substr(0, 26), "'1e305 PB' is out of range");
    EXPECT_EQ(refusal(parse_rate, "0 GB/s").substr(0, 16), "'0 GB/s' is zero");
    EXPECT_EQ(refusal(parse_count, "1.5").substr(0, 27), "'1.5' is not a whole number");
    // YAML 1.1 reads 0200 as 128, others as 200.
    EXPECT_EQ(refusal(parse_count, "0200").substr(0, 49),
              "'0200' begins with 0, as octal numbers do; write ");
    EXPECT_EQ(parse_count("0"), 0);
    EXPECT_EQ(parse_count("0.5k"), 500);
    EXPECT_EQ(refusal(parse_count, "10000T").substr(0, 24), "'10000T' is out of range");
}

TEST(QuantityText, TheLocaleDoesNotMatter) {
    // If the machine has none of these, the text is read in the C locale, which proves nothing.
    for (const char* const name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"}) {
        if (std::setlocale(LC_ALL, name) != nullptr) {
            break;
        }
    }
    EXPECT_EQ(parse_time("2.2 s").value(), 2.2);
    std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace podsim::scenarios
