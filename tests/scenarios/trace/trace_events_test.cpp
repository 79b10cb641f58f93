// Trace events, letter by letter, and their times as a reader of doubles sees them.
#include "scenarios/trace/trace_events.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

#include "scenarios/text/json_text.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kWritten =
    R"json({"displayTimeUnit":"ms","otherData":{"simulator":"podsim","scenario":"a \"name\""},"traceEvents":[
{"name":"process_name","ph":"M","pid":1,"tid":1001,"args":{"name":"/device:TPU:0"}},
{"name":"process_sort_index","ph":"M","pid":1,"tid":1001,"args":{"sort_index":1}},
{"name":"thread_name","ph":"M","pid":1,"tid":1001,"args":{"name":"XLA Ops"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":1001,"args":{"sort_index":1}},
{"name":"qkv","cat":"op","ph":"X","pid":1,"tid":1001,"ts":0,"dur":1.500001,"args":{"layer":3,"bytes":2.5,"op":"a\\b"}},
{"name":"bubble","cat":"wait","ph":"X","pid":1,"tid":1001,"ts":1.500001,"dur":0.499999,"args":{}},
{"name":"thread_name","ph":"M","pid":1,"tid":1002,"args":{"name":"AllGather over fsdp"}},
{"name":"thread_sort_index","ph":"M","pid":1,"tid":1002,"args":{"sort_index":2}},
{"name":"HBM memory (bytes)","ph":"C","pid":1,"ts":0.5,"args":{"parameters":1e+16,"buffers":0}},
{"name":"process_name","ph":"M","pid":2,"tid":2001,"args":{"name":"/device:TPU:1"}},
{"name":"process_sort_index","ph":"M","pid":2,"tid":2001,"args":{"sort_index":2}},
{"name":"wait","cat":"op","ph":"s","id":1,"pid":1,"tid":1002,"ts":0.000007},
{"name":"wait","cat":"op","ph":"f","bp":"e","id":1,"pid":2,"tid":2001,"ts":10}
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
    events.track({TrackKind::collective, "AllGather over fsdp"});
    events.counter({.name = "HBM memory (bytes)", .series = {"parameters", "buffers"}});
    events.sample({.at = {500'000}, .values = {1e16, 0}});
    events.process({.name = "/device:TPU:1", .end = {}});
    events.flow({.from = {.process = 0, .track = 1, .start = {7}, .end = {8}},
                 .to = {.process = 1, .track = 0, .start = {10'000'000}, .end = {10'000'001}}});
    events.finish();
    EXPECT_EQ(out.str(), kWritten);
    EXPECT_TRUE(Json::accept(out.str()));
}

// 0.1 us and 0.2 us are 0.30000000000000004 us as doubles, which is later than 0.3 us.
TEST(TraceEvents, ADurationIsShortenedWhereTheSumOfDoublesWouldOverlap) {
    EXPECT_EQ(trace_duration({0}, {200'000}), 0.2);
    EXPECT_EQ(trace_duration({100'000}, {300'000}), 0.19999999999999998);
}

// Up to half an hour: what one slice ends at is never later than where the next begins, and the text gives back every
// picosecond.
TEST(TraceEvents, TimesNeitherOverlapNorLosePicoseconds) {
    for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
        std::mt19937_64 random(seed);
        const auto draw = [&](std::int64_t most) {
            return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
        };
        const std::int64_t most = std::int64_t{1} << (10 + draw(41));
        const sim::Time start{draw(most)};
        const sim::Time end = start + sim::Time{1 + draw(std::int64_t{1} << draw(51))};
        std::ostringstream out;
        TraceEvents events(out, "");
        events.process({.name = "", .end = {}});
        events.slice({.name = "", .category = "", .start = start, .end = end});
        events.slice({.name = "", .category = "", .start = end, .end = end + sim::Time{1}});
        events.finish();
        const Json all = Json::parse(out.str())["traceEvents"];
        const double ts = all[2]["ts"];
        const double dur = all[2]["dur"];
        ASSERT_LE(ts + dur, all[3]["ts"].get<double>()) << seed;
        ASSERT_EQ(std::llround(ts * 1e6), start.ps) << seed;
        ASSERT_EQ(std::llround(dur * 1e6), (end - start).ps) << seed;
    }
}

}  // namespace
}  // namespace podsim::scenarios
