// How often loops go round, in every form that tells.
#include "workloads/hlo_totals/trips.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

/// A loop whose element 1 begins at `first`, changes by `step` (an instruction of `%i`) and is compared as `test` says.
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

// `1e9` was 1: the number by which the text begins. Protocol buffers read it as 10^9; what they do not read is refused at its loop.
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

TEST(HloTrips, WhatDoesNotTell) {
    EXPECT_EQ(trips("1", "multiply(%i, %two)", "compare(%i, %n), direction=LT"), std::nullopt);
    EXPECT_EQ(trips("0", "subtract(%i, %one)", "compare(%i, %n), direction=LT"), std::nullopt);
    EXPECT_EQ(trips("1", "add(%i, %two)", "compare(%i, %n), direction=NE"), std::nullopt);
    EXPECT_EQ(trips("0", "add(%i, %i)", "compare(%i, %n), direction=LT"), std::nullopt);
    EXPECT_EQ(trips("0", "add(%i, %one)", "compare(%n, %n), direction=LT"), std::nullopt);
}

}  // namespace
}  // namespace podsim::workloads::hlo
