// Explanations of a collective's time: the terms of the gap to the bound, the limiting links, and
// sweeps over sizes.
#include <cmath>
#include <gmock/gmock.h>
#include <random>

#include "collectives/catalogue/bandwidth.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using collectives::Algorithm;
using collectives::Operation;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using CollectiveCommand = CommandTest;
using SortedJson = nlohmann::json;

CollectiveRequest make_request(const std::string& chip, const std::string& slice,
                               const std::string& axes, Operation operation, Algorithm algorithm,
                               double bytes) {
    CollectiveRequest request;
    request.hardware = hardware_from_options({.chip = chip, .slice = slice});
    request.operation = operation;
    request.members = parse_members(axes, request.hardware.slice);
    request.algorithm = algorithm;
    request.bytes = sim::Bytes(bytes);
    return request;
}

/// Returns the gap in whole nanoseconds, by name. Bounds are rounded down and messages up, by less.
std::vector<std::pair<std::string, std::int64_t>> gap_in_ns(const CollectiveResult& result) {
    std::vector<std::pair<std::string, std::int64_t>> terms;
    for (const Share& term : result.gap) {
        terms.emplace_back(term.name, std::llround(static_cast<double>(term.time.ps) / 1e3));
    }
    return terms;
}

using NamedTerms = std::vector<std::pair<std::string, std::int64_t>>;

// Two-way ring of 4 on v5p: r = 90 GB/s, a = 1 us; V = 3.6 MB, blocks of 0.9 MB, one message each.
// Step 1 takes 10 us and 1 us; step 2 moves half a block in each direction, 5 us and 1 us. That is
// 17 us, of which 15 us are without latency. Every link carries 1.5 blocks: 15 us, which is the
// bound, 3 blocks over 2 links.
TEST(CollectiveGap, TwoWayRingOfFour) {
    const CollectiveResult result = simulate_collective(
        make_request("v5p", "4x4x4", "x", Operation::all_gather, Algorithm::automatic, 3.6e6),
        Fold::automatic);
    EXPECT_EQ(result.simulated.ps, 17'000'000);
    EXPECT_EQ(gap_in_ns(result),
              (NamedTerms{{"launch", 0}, {"latency", 2000}, {"uneven load", 0}, {"idle", 0}}));
    EXPECT_EQ(result.parts.latency.ps, 2'000'000);
    EXPECT_EQ(result.parts.bandwidth.ps, 15'000'000);
    EXPECT_EQ(result.regime(), Regime::between);
    ASSERT_EQ(result.limiting.size(), 1U);
    EXPECT_EQ(result.limiting[0].name, "ici_x");
    EXPECT_EQ(result.limiting[0].place, "");
    EXPECT_EQ(result.limiting[0].links, 2 * 64);
}

// The same in one direction: 3 steps of 10 us and 1 us. The links of that direction carry all 3
// blocks, 30 us against a bound of 15 us.
TEST(CollectiveGap, OneWayRingOfFour) {
    const CollectiveResult result = simulate_collective(
        make_request("v5p", "4x4x4", "x", Operation::all_gather, Algorithm::one_way, 3.6e6),
        Fold::automatic);
    EXPECT_EQ(result.simulated.ps, 33'000'000);
    EXPECT_EQ(gap_in_ns(result),
              (NamedTerms{{"launch", 0}, {"latency", 3000}, {"uneven load", 15000}, {"idle", 0}}));
    EXPECT_EQ(result.limiting.at(0).place, "+x");
    EXPECT_EQ(result.limiting.at(0).links, 64);
    EXPECT_EQ(result.limiting.at(0).of, 128);
}

// Line of 4 on v5e: r = 45 GB/s, a = 1 us, V = 1.8 MB, blocks of 10 us. AllGather: the links into
// the ends carry 3 blocks, which is the bound, 30 us; 3 steps, 3 us of latency.
TEST(CollectiveGap, LineOfFourGathers) {
    const CollectiveResult result = simulate_collective(
        make_request("v5e", "4x4", "x", Operation::all_gather, Algorithm::automatic, 1.8e6),
        Fold::automatic);
    EXPECT_EQ(result.simulated.ps, 33'000'000);
    EXPECT_EQ(gap_in_ns(result),
              (NamedTerms{{"launch", 0}, {"latency", 3000}, {"uneven load", 0}, {"idle", 0}}));
    // From 2 to 3 and from 1 to 0, on 4 lines; 6 links a line.
    EXPECT_EQ(result.limiting.at(0).place, "+x, from x=2 to x=3");
    EXPECT_EQ(result.limiting.at(0).links, 8);
    EXPECT_EQ(result.limiting.at(0).of, 24);
}

// The line reduces and gathers. Without latency: 0 sends its sums for 3, 2, 1 to the right until
// 10, 20, 30 us, and every member forwards them, so all sums are complete at 30 us; gathering takes
// 30 us more. Every link carries 4 blocks, 40 us, which is the bound (V into an end): 20 us idle.
// Latency: 3 hops in each direction, 6 us. Launch cost: 2.5 us on top.
TEST(CollectiveGap, LineOfFourReducesAndGathers) {
    CollectiveRequest request =
        make_request("v5e", "4x4", "x", Operation::all_reduce, Algorithm::two_way, 1.8e6);
    request.hardware.chip.collective_launch.value = sim::Seconds(2.5e-6);
    const CollectiveResult result = simulate_collective(request, Fold::automatic);
    EXPECT_EQ(result.simulated.ps, 68'500'000);
    EXPECT_EQ(
        gap_in_ns(result),
        (NamedTerms{{"launch", 2500}, {"latency", 6000}, {"uneven load", 0}, {"idle", 20000}}));
    EXPECT_EQ(result.limiting.at(0).place, "");
}

// Blocks of 4 on a ring of 8 are lines, which repeat every 4 chips.
TEST(CollectiveGap, PlacesOnRepeatingLines) {
    const CollectiveResult result = simulate_collective(
        make_request("v5p", "8x4x4", "x%4", Operation::all_gather, Algorithm::automatic, 1e6),
        Fold::automatic);
    EXPECT_EQ(result.limiting.at(0).place, "+x, from x=2 mod 4 to x=3 mod 4");
    EXPECT_EQ(result.limiting.at(0).links, 128 / 4 * 2);
}

TEST(CollectiveGap, AddsUpExactlyForRandomRequests) {
    struct Slice {
        const char* chip;
        const char* shape;
        bool twisted = false;
    };
    const Slice slices[] = {{"v5p", "4x4x4"}, {"v5p", "4x4x8"}, {"v5p", "2x4x4"},
                            {"v5e", "4x4"},   {"v5e", "4x8"},   {"v4p", "4x4x8", true}};
    const char* const groups[] = {"x", "xy", "y", "x%2", "x/2", "x%2 y", "x/2 y", "x/2 y%2"};
    const double sizes[] = {1, 1000, 123457, 3e6, 4e8};
    std::mt19937_64 random(20);
    const auto pick = [&](const auto& items) { return items[random() % std::size(items)]; };
    for (int i = 0; i < 300; ++i) {
        const Slice slice = pick(slices);
        CollectiveRequest request;
        request.hardware =
            hardware_from_options({.chip = slice.chip,
                                   .slice = slice.shape,
                                   .twisted = slice.twisted,
                                   .latency = random() % 2 == 0 ? "additive" : "floor"});
        request.hardware.chip.collective_launch.value =
            sim::Seconds(random() % 2 == 0 ? 0 : 1.7e-6);
        const std::string group = pick(groups);
        SCOPED_TRACE(group + " of " + slice.chip + ' ' + slice.shape);
        request.members = parse_members(group, request.hardware.slice);
        if (request.members.size() == 1) {
            continue;
        }
        request.operation = pick(collectives::all_operations());
        const bool routed = request.operation == Operation::all_to_all;
        const Algorithm algorithms[] = {Algorithm::automatic, Algorithm::one_way,
                                        routed ? Algorithm::shortest : Algorithm::two_way,
                                        routed ? Algorithm::automatic : Algorithm::equal_parts};
        const bool ends = request.operation > Operation::all_to_all;
        request.algorithm = ends ? Algorithm::automatic : pick(algorithms);
        request.ends.to = {1, 1, 0};
        request.bytes = sim::Bytes(pick(sizes));
        const CollectiveResult result = simulate_collective(request, Fold::automatic);
        const std::int64_t bound = sim::round_down(result.physical_bound).ps;
        std::int64_t sum = 0;
        for (const Share& term : result.gap) {
            sum += term.time.ps;
        }
        EXPECT_EQ(sum, result.simulated.ps - bound);
        EXPECT_EQ(result.parts.launch + result.parts.latency + result.parts.bandwidth,
                  result.simulated);
        EXPECT_GE(result.gap[2].time.ps, 0) << "a link is never busier than the busiest";
        EXPECT_GE(result.gap[3].time.ps, 0);
        EXPECT_FALSE(result.limiting.empty());
        for (const LinkUse& use : result.links) {
            EXPECT_LE(use.busy_fraction, use.busiest_fraction * (1 + 1e-12));
            EXPECT_LE(use.bytes.value(), use.busiest_bytes.value() * (1 + 1e-12));
            EXPECT_LE(use.busiest_fraction, 1);
        }

        request.hardware.chip.collective_launch.value = {};
        EXPECT_EQ(simulate_collective(request, Fold::automatic).simulated + result.parts.launch,
                  result.simulated);
        const CollectiveResult whole = simulate_collective(request, Fold::off);
        EXPECT_EQ(whole.parts.bandwidth, result.parts.bandwidth);
        ASSERT_EQ(whole.limiting.size(), result.limiting.size());
        EXPECT_EQ(whole.limiting[0].links, result.limiting[0].links);
        EXPECT_EQ(whole.limiting[0].place, result.limiting[0].place);
    }
}

// As in nccl-tests, for 8 ranks in 2 s; alltoall counts the buffer of one rank.
TEST(CollectiveBandwidth, FollowsNcclTests) {
    const auto both = [](Operation operation) {
        const auto value = collectives::bandwidth(operation, 8, sim::Bytes(1600), sim::Seconds(2));
        return std::pair{value.algorithm.value(), value.bus.value()};
    };
    EXPECT_EQ(both(Operation::all_gather), std::pair(800.0, 700.0));
    EXPECT_EQ(both(Operation::reduce_scatter), std::pair(800.0, 700.0));
    EXPECT_EQ(both(Operation::all_reduce), std::pair(800.0, 1400.0));
    EXPECT_EQ(both(Operation::all_to_all), std::pair(100.0, 87.5));
}

std::vector<std::string> ring(const std::string& bytes, std::vector<std::string> more = {}) {
    std::vector<std::string> args = {"collective", "--chip", "v5p", "--slice", "4x4x4", "--op",
                                     "all-gather", "--axes", "x",   "--bytes", bytes};
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

TEST_F(CollectiveCommand, SaysWhy) {
    const std::string text = podsim(ring("3.6e6")).out;
    EXPECT_THAT(text, HasSubstr("algorithm two-way (picked by auto), 2 hops\n"));
    EXPECT_THAT(text, HasSubstr("  algorithm bandwidth 211.8 GB/s, bus bandwidth 158.8 GB/s\n"));
    EXPECT_THAT(text, HasSubstr("Gap: simulated - physical bound        us  % of simulated\n"
                                "  latency                        2.000000            11.8\n"));
    EXPECT_THAT(text, Not(HasSubstr("launch")));  // zero terms are left out
    EXPECT_THAT(text, HasSubstr("in between: 11.8 % of the time is latency, 88.2 % bandwidth\n"));
    EXPECT_THAT(text, HasSubstr("  limited by ici_x, all alike, busy 88.2 %\n"));
    EXPECT_THAT(podsim(ring("1e3")).out, HasSubstr("  busiest: ici_x, all alike, busy 0.2 %\n"));
    EXPECT_THAT(podsim(ring("1e6", {"--algorithm", "one-way"})).out,
                HasSubstr("algorithm one-way, 3 hops\n"));
}

TEST_F(CollectiveCommand, OverSlicesSaysHowManyThereAre) {
    const Outcome outcome = podsim({"collective", "--chip", "v5p", "--slice", "4x4x4", "--op",
                                    "all-gather", "--axes", "xyz slice", "--bytes", "1e9"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(plain(outcome.err),
              "--axes xyz slice: there is one slice; --slices says how many there are\n");
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, std::vector<std::string>{"--slices", "1"}}) {
        std::vector<std::string> args{"collective", "--chip",  "v5p",        "--slice",
                                      "4x4x4",      "--op",    "all-gather", "--axes",
                                      "xyz",        "--bytes", "1e6",        "--oversubscription",
                                      "4"};
        args.insert(args.end(), more.begin(), more.end());
        const Outcome alone = podsim(args);
        EXPECT_EQ(alone.status, 2);
        EXPECT_EQ(alone.out, "");
        EXPECT_EQ(
            alone.err,
            "podsim collective: --oversubscription is of the network between slices: there is "
            "one slice; --slices says how many there are\n");
    }
}

TEST_F(CollectiveCommand, JsonSaysWhy) {
    const SortedJson json = SortedJson::parse(podsim(ring("3.6e6", {"--json", "-"})).out);
    EXPECT_EQ(json["requested_algorithm"], "auto");
    EXPECT_EQ(json["algorithm"], "two-way");
    EXPECT_EQ(json["gap_s"].size(), 4U);
    EXPECT_EQ(json["gap_s"]["latency"], 2e-6);
    EXPECT_EQ(json["gap_s"]["launch"], 0);
    EXPECT_EQ(json["regime"], "in between");
    EXPECT_EQ(json["limiting"][0]["link"], "ici_x");
    EXPECT_EQ(json["limiting"][0]["place"], "all alike");
    EXPECT_EQ(json["links"]["ici_x"]["busiest_bytes"], 1.35e6);
    EXPECT_EQ(json["links"]["ici_y"]["busiest_bytes"], 0);
    EXPECT_DOUBLE_EQ(json["bus_bandwidth_bytes_per_s"].get<double>(), 2.7e6 / 17e-6);
}

TEST_F(CollectiveCommand, AllToAllPicksShortestRoutes) {
    const auto run = [](const std::string& axes) {
        return podsim({"collective", "--chip", "v5p", "--slice", "4x4x4", "--op", "all-to-all",
                       "--axes", axes, "--bytes", "1e9"})
            .out;
    };
    EXPECT_THAT(run("x"), StartsWith("all-to-all over x of 1.000 GB (v5p 4x4x4, 64 chips, x y z "
                                     "wrapped), 4 members, algorithm shortest-routes (picked by "
                                     "auto), 2 hops\n"));
    EXPECT_THAT(run("x"), HasSubstr("  book  "));
    EXPECT_THAT(podsim({"list", "algorithms"}).out,
                HasSubstr("shortest-routes for an all-to-all\n"));
}

std::vector<double> swept(const std::string& range) {
    std::vector<double> bytes;
    for (const SortedJson& run : SortedJson::parse(podsim(ring(range, {"--json", "-"})).out)) {
        bytes.push_back(run["bytes"]);
    }
    return bytes;
}

TEST_F(CollectiveCommand, SweepsSizes) {
    EXPECT_EQ(swept("1e3:1e6"), (std::vector<double>{1e3, 1e4, 1e5, 1e6}));
    EXPECT_EQ(swept("1e3:2e4"), (std::vector<double>{1e3, 1e4, 2e4}));
    EXPECT_EQ(swept("1 KiB : 8 KiB : x2"), (std::vector<double>{1024, 2048, 4096, 8192}));
    EXPECT_EQ(swept("1e3:1e4:3"), (std::vector<double>{1000, 2150, 4640, 1e4}));
    EXPECT_EQ(swept("1:3:x1.1"), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(swept("5:5"), (std::vector<double>{5}));
}

TEST_F(CollectiveCommand, SweepsPrintATable) {
    const std::string text = podsim(ring("3.6e3:3.6e8:x100")).out;
    EXPECT_THAT(text, StartsWith("all-gather over x of 3.600 kB to 360.0 MB (v5p 4x4x4, 64 chips"));
    EXPECT_THAT(text, HasSubstr("  bytes         time  algorithm bw      bus bw  bound/time  "
                                "latency  regime           algorithm\n"
                                "  3.600 kB  2.015 us    1.787 GB/s  1.340 GB/s      0.0074  "
                                " 99.3 %  latency-bound    two-way\n"));
    EXPECT_THAT(text, HasSubstr("bandwidth-bound  two-way\n"));
    EXPECT_THAT(text, HasSubstr(", algorithms picked by auto for each size\n"));
    // Each size names its algorithm: small all-reduces are one-shot, large ones have as many
    // segments as there are orders.
    const std::string picked =
        podsim({"collective", "--chip", "v5p", "--slice", "4x4x4", "--op", "all-reduce", "--axes",
                "xyz", "--bytes", "1e3:1e9:x1000000"})
            .out;
    EXPECT_THAT(picked, HasSubstr("latency-bound    one-shot\n"));
    EXPECT_THAT(picked, HasSubstr("bandwidth-bound  weighted\n"));
}

TEST_F(CollectiveCommand, SweepsWriteCsvAndTheJsonOfEachSize) {
    const std::string csv = podsim(ring("3.6e6:3.6e7", {"--csv", "-"})).out;
    EXPECT_THAT(csv, StartsWith("bytes,simulated_s,algorithm_bandwidth_bytes_per_s,"
                                "bus_bandwidth_bytes_per_s,physical_bound_s,bound_over_simulated,"
                                "latency_share,regime,algorithm\n3600000,1.7e-05,211764705882"));
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
    const Outcome files =
        podsim(ring("3.6e6:3.6e7", {"--csv", path("s.csv"), "--json", path("s.json")}));
    EXPECT_THAT(files.out, StartsWith("all-gather over x of 3.600 MB to 36.00 MB"));
    std::ifstream csv_file(path("s.csv"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(csv_file), {}), csv);
    std::ifstream json_file(path("s.json"));
    SortedJson one = SortedJson::parse(podsim(ring("3.6e6", {"--json", "-"})).out);
    SortedJson first = SortedJson::parse(json_file)[0];
    one.erase("wall_time_s");
    first.erase("wall_time_s");
    EXPECT_EQ(first, one);
}

TEST_F(CollectiveCommand, BadRanges) {
    const auto refused = [](const std::vector<std::string>& args, const std::string& message) {
        const Outcome outcome = podsim(args);
        EXPECT_EQ(outcome.status, 2);
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, message + '\n');
    };
    const std::string remedy =
        "; write FROM:TO, FROM:TO:POINTS with 1 to 20 points per decade, or FROM:TO:xFACTOR, as in "
        "1e3:1e10 or 1KiB:64MiB:x2";
    const auto bad = [&](const std::string& range, const std::string& problem) {
        refused(ring(range), "--bytes " + range + ": " + problem + remedy);
    };
    bad("1e10:1e3", "the range ends below its start");
    bad("1e3:", "the range has no end");
    bad(":1e3", "the range has no start");
    bad("1:2:3:4", "the range has 4 parts");
    bad("1e3:1e6:0", "'0' is neither points per decade nor a factor");
    bad("1e3:1e6:21", "'21' is neither points per decade nor a factor");
    bad("1e3:1e6:", "'' is neither points per decade nor a factor");
    bad("1e3:1e6:x1", "'x1' is not a factor above 1");
    bad("1e3:1e6:xnan", "'xnan' is not a factor above 1");
    bad("1e3:1e6:x1.0001", "the range has more than 200 sizes");
    bad("1e3:1e6:x1.000000000000001", "the range has more than 200 sizes");
    refused(ring("0:1e6"), "--bytes 0:1e6: the size is out of range; allowed: above 0, up to 1 PB");
    refused(ring("1e3:2 PB"),
            "--bytes 1e3:2 PB: the size is out of range; allowed: above 0, up to 1 PB");
    refused(ring("1e3:1 MX"),
            "--bytes 1e3:1 MX: '1 MX' has the unknown unit 'MX'; write a size such as 1e9 or 64 "
            "MiB; units: B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB; nearest: MB");
    refused(ring("1e3", {"--csv", "-"}),
            "podsim collective: --csv is for a range of sizes; give --bytes a range such as "
            "1e3:1e10");
    refused(ring("1e3:1e4", {"--csv", "-", "--json", "-"}),
            "podsim collective: --csv and --json both want standard output; give one of them a "
            "path");
}

TEST_F(CollectiveCommand, SaysHowEveryAxisIsServed) {
    const auto text = [&](const std::string& slice, const std::string& axes, bool twisted) {
        std::vector<std::string> args{"collective", "--chip", "v5p", "--slice", slice, "--op",
                                      "all-gather", "--axes", axes,  "--bytes", "1e6"};
        if (twisted) {
            args.emplace_back("--twisted");
        }
        const auto result = podsim(args);
        EXPECT_EQ(result.status, 0) << result.err;
        return result.out;
    };
    EXPECT_THAT(text("4x4x8", "x%2 y", false), HasSubstr("\n  x%2: line of 2, y: ring of 4\n"));
    EXPECT_THAT(text("4x4x8", "xz", true),
                HasSubstr("\n  x: line of 4, z: ring of 8 (walking along a twisted axis does not "
                          "return after its length)\n"));
    EXPECT_THAT(text("4x4x8", "xyz", true),
                HasSubstr("\n  x, y, z: rings modulo what the axes before have gathered\n"));
}

}  // namespace
}  // namespace podsim::scenarios
