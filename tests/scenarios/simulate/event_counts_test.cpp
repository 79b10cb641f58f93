// The cost model of docs/performance.md, exactly: events of a run = hops + ended tasks. Hops are
// counted by hand from the algorithms' definitions. Folded runs have the same for every chip.
#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/algorithms/messages.h"
#include "collectives/paths/factors.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using collectives::Algorithm;
using collectives::Operation;

CollectiveRequest make_request(Operation operation, const std::string& chip,
                               const std::string& slice, const std::string& axes, double bytes,
                               Algorithm algorithm = Algorithm::automatic) {
    CollectiveRequest request;
    request.hardware = hardware_from_options({.chip = chip, .slice = slice});
    request.operation = operation;
    request.members = parse_members(axes, request.hardware.slice);
    request.bytes = sim::Bytes(bytes);
    request.algorithm = algorithm;
    return request;
}

/// Returns the fractions of the chunks of a segment: for several factors 1, 2, 4, ..., the last two
/// alike, `chunks` in total. With lines 24 are alike, since the blocks here hold more than 24 times
/// what a link carries in a hop's latency (45 kB on v5e).
std::vector<double> chunk_shares(const CollectiveRequest& request, int chunks) {
    const collectives::Group& group = request.members.group;
    const bool rings = std::ranges::all_of(group, [&](const topology::AxisFactor& factor) {
        return collectives::factor_kind(request.hardware.slice, factor).ring;
    });
    if (group.size() == 1) {
        return {1.0};
    }
    if (!rings) {
        return std::vector<double>(24, 1.0 / 24);
    }
    const double units = std::exp2(chunks - 1) - 1 + std::exp2(chunks - 2);
    std::vector<double> shares;
    for (int chunk = 0; chunk < chunks; ++chunk) {
        shares.push_back(std::exp2(std::min(chunk, chunks - 2)) / units);
    }
    return shares;
}

/// Returns the hops of an AllGather by chip. A phase of a segment takes the block of every one of
/// the L members over (L - 1) links of s chips each, in m messages. If L is even on a two-way ring,
/// the opposite member's block of one message goes as two halves, which is one hop more.
double gather_hops(const CollectiveRequest& request, Algorithm algorithm, int chunks) {
    const topology::Lattice& slice = request.hardware.slice;
    const collectives::Group& group = request.members.group;
    double n = 1;
    for (const topology::AxisFactor& factor : group) {
        n *= factor.length;
    }
    double hops = 0;
    for (const collectives::Part& part : collectives::divide(slice, group, algorithm)) {
        double held = request.bytes.value() * part.weight / n;
        for (std::size_t phase = 0; phase < part.order.size(); ++phase) {
            const int length = part.lengths[phase];
            const collectives::FactorKind kind =
                collectives::factor_kind(slice, group[static_cast<std::size_t>(part.order[phase])]);
            for (const double share : chunk_shares(request, chunks)) {
                const double m = collectives::message_count(sim::Bytes(held * share),
                                                            request.hardware.message_cap);
                const bool halves =
                    kind.ring && length % 2 == 0 && m == 1 && algorithm != Algorithm::one_way;
                hops += m * kind.links_per_hop * (length - 1 + (halves ? 1 : 0));
            }
            held *= length;
        }
    }
    return hops;
}

/// Expects `hops` hops for each chip, and one task, both folded and unfolded.
void expect_hops(const CollectiveRequest& request, double hops_per_chip) {
    const int chips = request.hardware.chips();
    for (const Fold fold : {Fold::automatic, Fold::off}) {
        const CollectiveResult result = simulate_collective(request, fold);
        EXPECT_DOUBLE_EQ(static_cast<double>(result.events),
                         (hops_per_chip + 1) * result.simulated_chips)
            << result.simulated_chips << " of " << chips << " chips";
    }
}

TEST(EventCounts, GatheringCollectives) {
    struct Case {
        const char* chip;
        const char* slice;
        const char* axes;
        double bytes;
        Algorithm algorithm;
        int chunks = 1;
    };
    const std::array cases{
        Case{"v5p", "4x4x4", "x", 1e3, Algorithm::two_way},     // one message: halves
        Case{"v5p", "8x4x4", "x", 1e9, Algorithm::two_way},     // 30 messages a block
        Case{"v5p", "8x4x4", "x", 1e9, Algorithm::one_way},     // the same hops
        Case{"v5p", "12x4x4", "x/4", 1e8, Algorithm::two_way},  // an odd ring over strides of 4
        Case{"v5e", "8x8", "x", 1e8, Algorithm::two_way},       // a line: its own mean
        Case{"v5p", "4x4x8", "xyz", 1e9, Algorithm::equal_parts, 3},
        Case{"v5p", "4x4x8", "xyz", 1e9, Algorithm::weighted, 3},
        Case{"v5p", "8x8x8", "yz", 3e7, Algorithm::weighted, 5},
        Case{"v5e", "4x8", "xy", 1e8, Algorithm::weighted, 24},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(std::string(c.chip) + " " + c.slice + " " + c.axes);
        CollectiveRequest request =
            make_request(Operation::all_gather, c.chip, c.slice, c.axes, c.bytes, c.algorithm);
        expect_hops(request, gather_hops(request, c.algorithm, c.chunks));
        request.operation = Operation::reduce_scatter;
        expect_hops(request, gather_hops(request, c.algorithm, c.chunks));
        request.operation = Operation::all_reduce;
        expect_hops(request, 2 * gather_hops(request, c.algorithm, c.chunks));
    }
}

/// The figures of docs/performance.md: 1 GB on the whole pod.
TEST(EventCounts, AllGatherOnAPod) {
    const CollectiveRequest request =
        make_request(Operation::all_gather, "v5p", "16x20x28", "xyz", 1e9);
    const CollectiveResult result = simulate_collective(request, Fold::automatic);
    EXPECT_DOUBLE_EQ(static_cast<double>(result.events),
                     gather_hops(request, result.algorithm, 3) + 1);
}

/// A tree has 2 (n - 1) hops for each message: up and back. 1 GB is 239 messages of at most 4 MiB,
/// of even size.
TEST(EventCounts, ReduceAndBroadcastOnALine) {
    const CollectiveRequest request =
        make_request(Operation::all_reduce, "v5e", "4x4", "x", 1e9, Algorithm::reduce_broadcast);
    expect_hops(request, 2.0 * 3 * 240 / 4);
}

/// An AllToAll uses all shortest routes in all orders of their axes. A displacement d over j axes,
/// t of them half-way round, has j! 2^t routes of |d| links, each with
/// ceil(V / n^2 / (j! 2^t) / cap) messages.
TEST(EventCounts, AllToAll) {
    struct Case {
        const char* slice;
        std::array<int, 3> lengths;
        double bytes;
    };
    for (const Case& c : {Case{"4x4x4", {4, 4, 4}, 1e6}, Case{"4x4x8", {4, 4, 8}, 1e6},
                          Case{"4x4x4", {4, 4, 4}, 6e10}}) {
        SCOPED_TRACE(c.slice);
        const CollectiveRequest request =
            make_request(Operation::all_to_all, "v5p", c.slice, "xyz", c.bytes);
        const double n = request.hardware.chips();
        double hops = 0;
        for (int chip = 1; chip < request.hardware.chips(); ++chip) {
            int rest = chip;
            int axes = 0;
            int links = 0;
            double routes = 1;
            for (const int length : c.lengths) {
                const int steps = std::min(rest % length, length - rest % length);
                rest /= length;
                links += steps;
                axes += steps > 0 ? 1 : 0;
                routes *= 2 * steps == length ? 2 : 1;
            }
            routes *= axes == 3 ? 6 : axes;
            hops += routes * links *
                    std::ceil(c.bytes / n / n / routes / request.hardware.message_cap.value());
        }
        expect_hops(request, hops);
    }
}

/// A step's events are a start and an end, and a fixed number for every layer; with reuse the
/// number of played events does not grow. A chip of an unfolded step has as many as its
/// representative.
TEST(EventCounts, Steps) {
    const auto run = [](std::int64_t layers, Fold fold) {
        return simulate_step(samples::make_scenario("v5p", {4, 4, 4}, samples::small_model(layers),
                                                    {{"fsdp", "y z"}, {"tensor", "x"}}, 32, 1024),
                             fold, {.reuse = true, .explain = false});
    };
    const StepResult some = run(40, Fold::automatic);
    const StepResult more = run(80, Fold::automatic);
    const StepResult most = run(160, Fold::automatic);
    EXPECT_EQ(most.events - more.events, 2 * (more.events - some.events));
    EXPECT_EQ(most.played_events, more.played_events);
    const StepResult unfolded = run(40, Fold::off);
    EXPECT_EQ(unfolded.events * static_cast<std::uint64_t>(some.simulated_chips),
              some.events * static_cast<std::uint64_t>(unfolded.simulated_chips));
}

}  // namespace
}  // namespace podsim::scenarios
