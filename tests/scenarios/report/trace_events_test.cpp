// Trace events, letter by letter, and their times for a reader that computes with doubles.
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/report/event_file.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kWritten =
    R"json({"displayTimeUnit":"ms","otherData":{"simulator":"podsim","scenario":"a \"name\""},"traceEvents":[
{"name":"process_name","ph":"M","pid":1,"tid":1001,"args":{"name":"/device:TPU:0"}},
{"name":"process_sort_index","ph":"M","pid":1,"tid":1001,"args":{"sort_index":1}},
{"name":"thread_name","ph":"M","pid":1,"tid":1001,"args":{"name":"XLA Ops"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":1001,"args":{"sort_index":1}},
{"name":"qkv","cat":"op","ph":"X","pid":1,"tid":1001,"ts":1,"dur":1.5,"args":{"layer":3,"bytes":2.5,"op":"a\\b"}},
{"name":"bubble","cat":"wait","ph":"X","pid":1,"tid":1001,"ts":2.5,"dur":0.5,"args":{}},
{"name":"thread_name","ph":"M","pid":1,"tid":1002,"args":{"name":"AllGather over fsdp"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":1002,"args":{"sort_index":2}},
{"name":"HBM memory (bytes)","ph":"C","pid":1,"ts":1.5,"args":{"parameters":1e+16,"buffers":0}},
{"name":"process_name","ph":"M","pid":2,"tid":2001,"args":{"name":"/device:TPU:1"}},
{"name":"process_sort_index","ph":"M","pid":2,"tid":2001,"args":{"sort_index":2}},
{"name":"wait","cat":"op","ph":"s","id":1,"pid":1,"tid":1002,"ts":1.001},
{"name":"wait","cat":"op","ph":"f","bp":"e","id":1,"pid":2,"tid":2001,"ts":11}
]}
)json";

TEST(TraceEvents, AreWrittenAsTheFormatWantsThem) {
    std::ostringstream out;
    TraceEvents events(out, "a \"name\"");
    events.process({.name = "/device:TPU:0", .end = {}});
    events.track({TrackKind::ops, "XLA Ops"});
    events.slice({.name = "qkv",
                  .category = "forward",
                  .start = {0},
                  .end = {1'500'001},
                  .arguments = {{"layer", std::int64_t{3}}, {"bytes", 2.5}, {"op", "a\\b"}}});
    events.slice({.name = "bubble", .category = "wait", .start = {1'500'001}, .end = {2'000'000}});
    // Both ends are 2000 ns: no reader has a length for it.
    events.slice(
        {.name = "imbalance", .category = "wait", .start = {2'000'000}, .end = {2'000'499}});
    events.track({TrackKind::collective, "AllGather over fsdp"});
    events.counter({.name = "HBM memory (bytes)", .series = {"parameters", "buffers"}});
    events.sample({.at = {500'000}, .values = {1e16, 0}});
    events.process({.name = "/device:TPU:1", .end = {}});
    const Flow::End later{.process = 1, .track = 0, .start = {10'000'000}, .end = {10'000'500}};
    events.flow({.from = {.process = 0, .track = 1, .start = {501}, .end = {1500}}, .to = later});
    // It would begin at a slice that does not exist.
    events.flow({.from = {.process = 0, .track = 1, .start = {501}, .end = {1499}}, .to = later});
    events.flow({.from = later, .to = {.process = 0, .track = 1, .start = {501}, .end = {1499}}});
    events.finish();
    EXPECT_EQ(out.str(), kWritten);
    EXPECT_TRUE(Json::accept(out.str()));
}

// 1.1 us and 0.1 us are 1.2000000000000002 us as doubles, which is later than 1.2 us.
TEST(TraceEvents, ADurationIsShortenedWhereTheSumOfDoublesWouldOverlap) {
    EXPECT_EQ(trace_duration({0}, {200'000}), 0.2);
    EXPECT_EQ(trace_duration({100'000}, {200'000}), 0.09999999999999987);
}

// A slice from 5741380.623 ns on takes 222217.566 ns. Rounded separately these are 5741381 and
// 222218, which end 1 ns after the start of the next, 5963598.189 ns.
TEST(TraceEvents, ADurationEndsWhereTheNextSliceBegins) {
    const sim::Time start{5'741'380'623};
    const sim::Time end{5'963'598'189};
    EXPECT_EQ(trace_duration(start, end), 222.217);
    EXPECT_EQ(trace_duration(end, {5'963'599'189}), 0.001);
}

// Up to a week a slice never ends after the next begins, whether a reader adds doubles or rounds
// both to nanoseconds, and the text is the nearest nanosecond.
TEST(TraceEvents, TimesNeitherOverlapNorLoseNanoseconds) {
    for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
        std::mt19937_64 random(seed);
        const auto draw = [&](std::int64_t most) {
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
        };
        const std::int64_t most = std::int64_t{1} << (10 + draw(49));
        const sim::Time start{draw(most)};
        const sim::Time end = start + sim::Time{1000 + draw(std::int64_t{1} << draw(59))};
        std::ostringstream out;
        TraceEvents events(out, "");
        events.process({.name = "", .end = {}});
        events.slice({.name = "", .category = "", .start = start, .end = end});
        events.slice({.name = "", .category = "", .start = end, .end = end + sim::Time{1000}});
        events.finish();
        const Json all = Json::parse(out.str())["traceEvents"];
        const double ts = all[2]["ts"];
        const double dur = all[2]["dur"];
        const double next = all[3]["ts"];
        const auto nearest = [](sim::Time time) { return (time.ps + 500) / 1000; };
        ASSERT_LE(ts + dur, next) << seed;
        ASSERT_EQ(std::llround(ts * 1e3), 1000 + nearest(start)) << seed;
        ASSERT_EQ(std::llround(dur * 1e3), nearest(end) - nearest(start)) << seed;
        ASSERT_EQ(std::llround(next * 1e3), 1000 + nearest(end)) << seed;
    }
}

}  // namespace
}  // namespace podsim::scenarios
