// The link loads of algorithms, checked against the messages that they send.
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include "collectives/algorithms/ring_step_schedule.h"
#include "collectives/catalogue/build_schedule.h"
#include "collectives/catalogue/operations.h"
#include "collectives/paths/factors.h"
#include "collectives/paths/ports.h"
#include "scenarios/src/search/known_bounds.h"
#include "topology/lattice/places.h"

namespace podsim::scenarios {
namespace {

using collectives::Group;
using collectives::Operation;
using topology::Lattice;

/// Returns [position][port]: the bytes of all messages of all groups.
std::vector<std::vector<double>> bytes_sent(const sim::Schedule& schedule,
                                            const collectives::ShiftTable& shifts) {
    const topology::Places& places = shifts.places();
    std::vector<std::vector<double>> bytes(
        static_cast<std::size_t>(places.size()),
        std::vector<double>(static_cast<std::size_t>(collectives::kIciPorts)));
    for (std::size_t place = 0; place < bytes.size(); ++place) {
        const sim::Role& role = schedule.roles[schedule.role_of_place[place]];
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            const sim::Transfer& transfer = schedule.transfers[role.first_transfer + i];
            for (std::uint32_t hop = 0; hop < transfer.hop_count; ++hop) {
                const sim::Hop& link = schedule.hops[transfer.first_hop + hop];
                const std::size_t from = shifts.table()[link.shift * bytes.size() + place];
                bytes[from][link.port] += transfer.bytes.value();
            }
        }
    }
    return bytes;
}

Group random_group(const Lattice& slice, std::mt19937_64& random) {
    Group group;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        int stride = 1;
        while (stride < slice.length(axis)) {
            const int rest = slice.length(axis) / stride;
            std::vector<int> lengths;
            for (int length = 2; length <= rest; ++length) {
                if (rest % length == 0) {
                    lengths.push_back(length);
                }
            }
            const int length = lengths[random() % lengths.size()];
            // A mesh merges neighbouring factors into one.
            const bool merges = !group.empty() && group.back().axis == axis &&
                                group.back().stride * group.back().length == stride;
            if (random() % 2 == 0 && !merges) {
                group.push_back({axis, stride, length});
            }
            stride *= length;
        }
    }
    return group;
}

// Rings and lines, strided and not, one factor and several. For all links along an axis, up and
// down, the bound is the minimum of the bytes that any algorithm puts there, exact up to rounding
// of doubles.
TEST(AlgorithmLinks, AreThoseOfTheMessagesOfRandomGroups) {
    std::mt19937_64 random(20261127);
    const auto one_of = [&](std::vector<int> values) { return values[random() % values.size()]; };
    int strided = 0;
    for (int round = 0; round < 60; ++round) {
        Lattice slice;
        slice.lengths = {one_of({4, 6, 8, 12}), one_of({1, 2, 4, 5}), one_of({1, 2, 4})};
        slice.wrapped = {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
        const Group group = random_group(slice, random);
        if (group.empty()) {
            continue;
        }
        constexpr double kBytes = 1e6;
        for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter}) {
            const AlgorithmLinks links = algorithm_links(operation, slice, group);
            std::vector<std::vector<std::vector<double>>> sent;  // by algorithm
            collectives::CollectiveCall call{.operation = operation,
                                             .slice = slice,
                                             .members = {group},
                                             .bytes = sim::Bytes(kBytes)};
            for (const auto algorithm : collectives::info(operation).candidates(call)) {
                call.algorithm = algorithm;
                collectives::ShiftTable shifts{topology::Places(slice, 1)};
                const sim::Schedule schedule =
                    collectives::build_schedule(call, {.payloads = false}, shifts).schedule;
                sent.push_back(bytes_sent(schedule, shifts));
            }
            ASSERT_EQ(links.held.size(), sent.size());
            for (int axis = 0; axis < topology::kAxes; ++axis) {
                const std::vector<double>& up = links.up[static_cast<std::size_t>(axis)];
                for (int chip = 0; chip < slice.size(); ++chip) {
                    const auto at =
                        static_cast<std::size_t>(slice.point(chip)[static_cast<std::size_t>(axis)]);
                    const std::size_t last = static_cast<std::size_t>(slice.length(axis)) - 1;
                    const auto least = [&](int direction) {
                        double bytes = std::numeric_limits<double>::max();
                        for (const auto& of_algorithm : sent) {
                            bytes = std::min(bytes,
                                             of_algorithm[static_cast<std::size_t>(chip)]
                                                         [collectives::port_of(axis, direction)]);
                        }
                        return bytes;
                    };
                    EXPECT_NEAR(least(1), up.empty() ? 0 : kBytes * up[at], 1e-3);
                    // The link down from a chip mirrors the link up from the chip before its
                    // mirror image.
                    const std::size_t mirrored = at == 0 ? last : last - at;
                    EXPECT_NEAR(least(-1), up.empty() ? 0 : kBytes * up[mirrored], 1e-3);
                }
            }
            strided += std::ranges::any_of(group, [](const auto& f) { return f.stride > 1; });
        }
    }
    EXPECT_GT(strided, 20);
}

// Steps along rings and lines, strided and not, in one direction and both: every link up and down
// is exact to the byte.
TEST(StepLinks, AreThoseOfTheMessagesOfRandomFactors) {
    std::mt19937_64 random(20261128);
    int both_ways = 0;
    for (int round = 0; round < 800; ++round) {
        Lattice slice;
        slice.lengths = {std::vector{4, 6, 8, 12, 20}[random() % 5], 2, 1};
        slice.wrapped = {random() % 2 == 0, false, false};
        const Group group = random_group(slice, random);
        for (std::size_t f = 0; f < group.size(); ++f) {
            const topology::AxisFactor& factor = group[f];
            const bool ring = collectives::factor_kind(slice, factor).ring;
            const int direction = ring && factor.length == 2 && random() % 2 == 0 ? 0
                                  : random() % 2 == 0                             ? 1
                                                                                  : -1;
            both_ways += direction == 0 ? 1 : 0;
            const StepLinks links = step_links(slice, factor, direction);
            EXPECT_EQ(links.up.empty(), ring);
            collectives::ShiftTable shifts{topology::Places(slice, 1)};
            constexpr double kBytes = 1024;
            const auto sent =
                bytes_sent(collectives::build_ring_step(
                               slice, group, {static_cast<int>(f), direction, sim::Bytes(kBytes)},
                               collectives::Motion::gather, {}, shifts)
                               .schedule,
                           shifts);
            const auto axis = static_cast<std::size_t>(factor.axis);
            const std::size_t last = static_cast<std::size_t>(slice.lengths[axis]) - 1;
            for (int chip = 0; chip < slice.size(); ++chip) {
                const auto at = static_cast<std::size_t>(slice.point(chip)[axis]);
                const std::size_t mirrored = at == 0 ? last : last - at;
                const std::vector<double>& of_chip = sent[static_cast<std::size_t>(chip)];
                const auto up = [&](std::size_t from) { return ring ? 0 : links.up[from]; };
                EXPECT_EQ(of_chip[collectives::port_of(factor.axis, 1)],
                          kBytes * (links.forward + up(at)));
                EXPECT_EQ(of_chip[collectives::port_of(factor.axis, -1)],
                          kBytes * (links.back + up(mirrored)));
            }
        }
    }
    EXPECT_GT(both_ways, 5);
}

}  // namespace
}  // namespace podsim::scenarios
