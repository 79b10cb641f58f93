// Trip counts of loops, in every form that states them.
#include "workloads/hlo/trips.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <tuple>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

/// Returns the trips of a loop whose element 1 begins at `first`, changes by `step` (an instruction
/// of `%i`) and is compared by `test`.
std::optional<std::int64_t> trips(const std::string& first, const std::string& step,
                                  const std::string& test, const std::string& config = {}) {
    const Module module = read_module(
        fmt::format(R"(
%next (x: s32[]) -> s32[] {{
  %x = s32[] parameter(0)
  %three = s32[] constant(3)
  ROOT %y = s32[] add(%x, %three)
}}
%below (x: s32[], n: s32[]) -> pred[] {{
  %x = s32[] parameter(0)
  %n = s32[] parameter(1)
  ROOT %y = pred[] compare(%x, %n), direction=LT
}}
%body (t: (f32[2], s32[])) -> (f32[2], s32[]) {{
  %t = (f32[2], s32[]) parameter(0)
  %v = f32[2] get-tuple-element(%t), index=0
  %i = s32[] get-tuple-element(%t), index=1
  %one = s32[] constant(1)
  %two = s32[] constant(2)
  %j = s32[] {}
  ROOT %r = (f32[2], s32[]) tuple(%v, %j)
}}
%test (t: (f32[2], s32[])) -> pred[] {{
  %t = (f32[2], s32[]) parameter(0)
  %i = s32[] get-tuple-element(%t), index=1
  %n = s32[] constant(10)
  ROOT %c = pred[] {}
}}
ENTRY %main (v: f32[2]) -> (f32[2], s32[]) {{
  %v = f32[2] parameter(0)
  %k = s32[] constant({})
  %copy = s32[] copy(%k)
  %u = (f32[2], s32[]) tuple(%v, %copy)
  ROOT %w = (f32[2], s32[]) while(%u), condition=%test, body=%body{}
}}
)",
                    step, test, first, config.empty() ? "" : ", backend_config=" + config),
        "m");
    const Computation& main = module.computations[module.entry];
    return trips_of(module, main, main.root_instruction());
}

TEST(HloTrips, CountedUpAndDown) {
    EXPECT_EQ(trips("0", "add(%i, %one)", "compare(%i, %n), direction=LT"), 10);
    EXPECT_EQ(trips("0", "add(%one, %i)", "compare(%n, %i), direction=GT"), 10);
    EXPECT_EQ(trips("0", "add(%i, %one)", "compare(%i, %n), direction=LE"), 11);
    EXPECT_EQ(trips("1", "add(%i, %two)", "compare(%i, %n), direction=LT"), 5);  // 1 3 5 7 9
    EXPECT_EQ(trips("0", "add(%i, %two)", "compare(%i, %n), direction=NE"), 5);
    EXPECT_EQ(trips("13", "subtract(%i, %one)", "compare(%i, %n), direction=GT"), 3);
    EXPECT_EQ(trips("13", "subtract(%i, %two)", "compare(%i, %n), direction=GE"), 2);
    EXPECT_EQ(trips("12", "add(%i, %one)", "compare(%i, %n), direction=LT"), 0);
}

TEST(HloTrips, InFusions) {
    EXPECT_EQ(trips("0", "fusion(%i), kind=kLoop, calls=%next",
                    "fusion(%i, %n), kind=kLoop, calls=%below"),
              4);  // 0 3 6 9
}

TEST(HloTrips, AsTheCompilerWroteThem) {
    const std::string unknown = "multiply(%i, %two)";
    const std::string test = "compare(%i, %n), direction=LT";
    EXPECT_EQ(trips("1", unknown, test, R"({"known_trip_count":{"n":"25"}})"), 25);
    EXPECT_EQ(trips("1", unknown, test, R"("{\"known_trip_count\":{\"n\":\"25\"}}")"), 25);
}

// A regression: `1e9` was read as 1, the number at the start of the text. Protocol buffers read it
// as 10^9; a count that they cannot read is refused at its loop.
TEST(HloTrips, WrittenCountsAsProtocolBuffersReadThem) {
    const std::string test = "compare(%i, %n), direction=LT";
    const auto written = [&](const std::string& count) {
        return trips("1", "multiply(%i, %two)", test,
                     "{\"known_trip_count\":{\"n\":" + count + "}}");
    };
    EXPECT_EQ(written("\"1e9\""), 1000000000);
    EXPECT_EQ(written("25"), 25);
    EXPECT_EQ(written("2.5e1"), 25);
    EXPECT_EQ(written("\"0\""), 0);
    EXPECT_EQ(written("\"1125899906842624\""), std::int64_t{1} << 50);
    for (const char* const none :
         {"\"-1\"", "\"1e-1\"", "2.5", "\"25x\"", "\"\"", "\"0x10\"", "many", "1125899906842625",
          "1e300", "9223372036854775808", "inf", "nan"}) {
        try {
            written(none);
            FAIL() << none;
        } catch (const sim::InputError& error) {
            EXPECT_EQ(error.mark().line, 32) << none;
            EXPECT_EQ(error.problem().find("'w': known_trip_count of '"), 0U) << error.problem();
        }
    }
}

// The number has to be all of the text, once, in whole JSON.
TEST(HloTrips, WrittenCountsThatAreNone) {
    const auto problem = [](const std::string& config) {
        try {
            const auto count =
                trips("1", "multiply(%i, %two)", "compare(%i, %n), direction=LT", config);
            return count ? fmt::format("{}", *count) : std::string("not told");
        } catch (const sim::InputError& error) {
            return error.problem();
        }
    };
    EXPECT_EQ(problem(R"({"known_trip_count":{"n":"1,000"}})"), "'w': known_trip_count of '1,000'");
    EXPECT_EQ(problem(R"({"known_trip_count":{"n":"1}00"}})"), "'w': known_trip_count of '1}00'");
    EXPECT_EQ(problem(R"({"known_trip_count":{"n":"5","n":"6"}})"), "'w': known_trip_count of '5'");
    EXPECT_EQ(problem(R"({"known_trip_count":{"m":"5"}})"),
              R"('w': known_trip_count of ':{"m":"5"}}')");
    EXPECT_EQ(problem(R"({"known_trip_count":{"n":"5"},"known_trip_count":{"n":"6"}})"),
              "'w': known_trip_count twice");
    EXPECT_EQ(problem(R"("{\"known_trip_count\":{\"n\":\"5\"}")"),
              "'w': backend_config: '}' is missing");
    EXPECT_EQ(problem("{known_trip_count:{n:5}}"), "'w': known_trip_count that is no key of JSON");
    EXPECT_EQ(problem(R"({"a":1, "known_trip_count": {"n": "5"}, "b":{"n":"7"}})"), "5");
    EXPECT_EQ(problem(R"({"known_trip_count":{}})"), "not told");
}

/// Counts a loop whose counter of that type begins at `first`, changes by `step` and goes on while
/// it is `direction` of `limit`.
std::optional<std::int64_t> counted(const std::string& type, const std::string& first,
                                    const std::string& step, const std::string& direction,
                                    const std::string& limit) {
    const Module module = read_module(
        fmt::format(
            "t {{\n p = ({0}[]) parameter(0)\n i = {0}[] get-tuple-element(p), index=0\n n = "
            "{0}[] constant({4})\n ROOT c = pred[] compare(i, n), direction={3}\n}}\nb {{\n "
            "p = ({0}[]) parameter(0)\n i = {0}[] get-tuple-element(p), index=0\n one = "
            "{0}[] constant({2})\n j = {0}[] add(i, one)\n ROOT r = ({0}[]) "
            "tuple(j)\n}}\nENTRY e {{\n z = {0}[] constant({1})\n u = ({0}[]) tuple(z)\n "
            "ROOT w = ({0}[]) while(u), condition=t, body=b\n}}\n",
            type, first, step, direction, limit),
        "m");
    const Computation& main = module.computations[module.entry];
    return trips_of(module, main, main.root_instruction());
}

// Differences of 64 bits wrapped, to 0 iterations and to numbers of any size.
TEST(HloTrips, FarFromTheLimit) {
    for (const auto& [first, step, direction, limit] :
         {std::tuple{"-9223372036854775808", "1", "LT", "5"},
          {"9223372036854775807", "-1", "GT", "-5"},
          {"-9223372036854775807", "1", "NE", "9223372036854775807"},
          {"0", "1", "LT", "4611686018427387904"},
          {"0", "1", "LE", "1125899906842624"}}) {
        try {
            counted("s64", first, step, direction, limit);
            FAIL() << first;
        } catch (const sim::InputError& error) {
            EXPECT_EQ(std::string(error.what()), "m:17:7: 'w': it goes round more than 2^50 times");
        }
    }
    EXPECT_EQ(counted("s64", "0", "1", "LT", "1125899906842624"), std::int64_t{1} << 50);
    EXPECT_EQ(counted("s64", "-9223372036854775808", "4611686018427387904", "LT", "5"), 3);
    EXPECT_EQ(counted("s64", "9223372036854775807", "-9223372036854775808", "GT", "5"), 1);
    EXPECT_EQ(counted("u64", "0", "9223372036854775807", "LT", "18446744073709551614"), 2);
}

// A counter that leaves its type before it meets the limit comes in again at the other end: the
// loop has no end, or another one.
TEST(HloTrips, CountersThatLeaveTheirTypes) {
    EXPECT_EQ(counted("u8", "0", "1", "LT", "255"), 255);
    EXPECT_EQ(counted("u8", "0", "1", "LE", "255"), std::nullopt);
    EXPECT_EQ(counted("s8", "-128", "-1", "GT", "-127"), 0);
    EXPECT_EQ(counted("s8", "5", "-1", "GE", "-128"), std::nullopt);
    EXPECT_EQ(counted("s32", "0", "1073741824", "LT", "2147483647"), std::nullopt);
    EXPECT_EQ(counted("u32", "9", "4294967295", "GT", "4"), 5);  // one less each time
    EXPECT_EQ(counted("f32", "0", "1", "LT", "16777216"), 16777216);
    EXPECT_EQ(counted("f32", "0", "1", "LE", "16777216"), std::nullopt);
}

// The way to the limit is more than the type holds.
TEST(HloTrips, LongWays) {
    EXPECT_EQ(trips("-2147483648", "add(%i, %one)", "compare(%i, %n), direction=LT"), 2147483658);
    EXPECT_EQ(trips("2147483647", "subtract(%i, %one)", "compare(%i, %n), direction=GT"),
              2147483637);
}

TEST(HloTrips, WhatDoesNotTell) {
    EXPECT_EQ(trips("1", "multiply(%i, %two)", "compare(%i, %n), direction=LT"), std::nullopt);
    EXPECT_EQ(trips("0", "subtract(%i, %one)", "compare(%i, %n), direction=LT"), std::nullopt);
    EXPECT_EQ(trips("1", "add(%i, %two)", "compare(%i, %n), direction=NE"), std::nullopt);
    EXPECT_EQ(trips("0", "add(%i, %i)", "compare(%i, %n), direction=LT"), std::nullopt);
    EXPECT_EQ(trips("0", "add(%i, %one)", "compare(%n, %n), direction=LT"), std::nullopt);
}

}  // namespace
}  // namespace podsim::workloads::hlo
