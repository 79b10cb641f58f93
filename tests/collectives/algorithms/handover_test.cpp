// Messages, links and roles of handovers and host transfers, worked out by hand.
#include "collectives/algorithms/handover.h"

#include <gtest/gtest.h>
#include <map>

#include "collectives/algorithms/host_transfer.h"
#include "collectives/catalogue/bounds.h"
#include "tests/topology/lattice_support.h"

namespace podsim::collectives {
namespace {

using topology::box;

/// 8 bytes go half-way round a ring of 4: half of them in
/// each direction, each half in two messages of 2 bytes.
TEST(HandoverTest, TakesTheShortestRoutes) {
    const topology::Lattice ring = box({4, 1, 1}, 1);
    ShiftTable shifts(ring);
    const CollectiveSchedule built = build_handover(ring, {.chips = {2, 0, 0}}, sim::Bytes(8),
                                                    {.message_cap = sim::Bytes(3)}, shifts);
    const sim::Schedule& schedule = built.schedule;
    EXPECT_EQ(built.hops, 2);
    ASSERT_EQ(schedule.roles.size(), 2U);
    EXPECT_EQ(schedule.roles[0].transfer_count, 4U);
    EXPECT_EQ(schedule.roles[0].arrivals, 0U);
    EXPECT_EQ(schedule.roles[1].transfer_count, 0U);
    EXPECT_EQ(schedule.roles[1].arrivals, 4U);
    std::map<std::uint32_t, double> by_port;
    for (const sim::Transfer& transfer : schedule.transfers) {
        EXPECT_EQ(transfer.bytes.value(), 2);
        EXPECT_EQ(transfer.hop_count, 2U);
        EXPECT_EQ(shifts.table()[transfer.destination_shift * 4], 2U);
        by_port[schedule.hops[transfer.first_hop].port] += transfer.bytes.value();
    }
    EXPECT_EQ(by_port, (std::map<std::uint32_t, double>{{0, 4}, {1, 4}}));
}

/// 10 bytes go to the next slice, one chip further: four messages, over PCIe and DCN.
TEST(HandoverTest, GoesToAnotherSlice) {
    const topology::Lattice line = box({2, 1, 1}, 0);
    ShiftTable shifts(topology::Places(line, 2));
    const HandoverTo to{.chips = {1, 0, 0}, .across = {1, 2}, .ranks = 1};
    const CollectiveSchedule built =
        build_handover(line, to, sim::Bytes(10), {.message_cap = sim::Bytes(3)}, shifts);
    const sim::Schedule& schedule = built.schedule;
    EXPECT_EQ(built.hops, 4);
    ASSERT_EQ(schedule.transfers.size(), 4U);
    for (std::uint32_t message = 0; message < 4; ++message) {
        const sim::Transfer& transfer = schedule.transfers[message];
        EXPECT_EQ(transfer.rank, message);
        EXPECT_EQ(transfer.bytes.value(), 2.5);
        EXPECT_EQ(transfer.bytes_before.value(), 2.5 * message);
        EXPECT_EQ(transfer.hop_count, 4U);
        EXPECT_EQ(shifts.table()[transfer.destination_shift * 4], 3U);
        EXPECT_EQ(built.payloads[message].low, message);
        EXPECT_EQ(built.payloads[message].high, message + 1);
        EXPECT_EQ(built.payloads[message].unit, 4U);
    }
    EXPECT_EQ(schedule.roles[0].first_transfer, 0U);
    EXPECT_EQ(schedule.roles[0].transfer_count, 4U);
    EXPECT_EQ(schedule.roles[0].arrivals, 0U);
    EXPECT_EQ(schedule.roles[1].first_transfer, 4U);
    EXPECT_EQ(schedule.roles[1].transfer_count, 0U);
    EXPECT_EQ(schedule.roles[1].arrivals, 4U);
}

TEST(HandoverTest, DoesNotGoRoundDeadLinks) {
    const topology::Lattice torus = box({4, 4, 1}, 3);
    ScheduleOptions options;
    options.dead_links = topology::DeadLinks(topology::Places(torus));
    options.dead_links.add(0, 1);
    ShiftTable shifts(torus);
    EXPECT_EQ(topology::error_of([&] {
                  build_handover(torus, {.chips = {1, 1, 0}}, sim::Bytes(1), options, shifts);
              }),
              "a handover along y, which has a dead link: handovers do not go round dead links; "
              "leave the links along that axis alive, or use another axis");
    EXPECT_NO_THROW(build_handover(torus, {.chips = {1, 0, 0}}, sim::Bytes(1), options, shifts));
}

/// The links of a handover are the axes of its routes and the number of routes: both directions of
/// a ring, and both orders of two axes.
TEST(HandoverTest, Links) {
    const auto links = [](const topology::Lattice& slice, const topology::Point& displacement) {
        const HandoverLinks found = handover_links(slice, displacement);
        return std::pair(found.axes, found.routes);
    };
    const topology::Lattice torus = box({4, 4, 4}, 7);
    EXPECT_EQ(links(torus, {1, 0, 0}), std::pair(1U, 1));
    EXPECT_EQ(links(torus, {2, 0, 0}), std::pair(1U, 2));
    EXPECT_EQ(links(torus, {0, 1, 1}), std::pair(6U, 2));
    EXPECT_EQ(links(box({4, 4, 4}, 0), {2, 0, 0}), std::pair(1U, 1));
}

/// Four messages of 2.5 bytes cross the chip's own PCIe link.
TEST(HostTransferTest, GoesOverPcieInMessages) {
    const auto ports = [](HostDirection direction) {
        ShiftTable shifts(box({3, 1, 1}, 0));
        const sim::Schedule schedule =
            build_host_transfer(direction, sim::Bytes(10), sim::Bytes(3), shifts);
        EXPECT_TRUE(shifts.uses_hosts());
        EXPECT_EQ(schedule.transfers.size(), 4U);
        for (std::uint32_t message = 0; message < schedule.transfers.size(); ++message) {
            const sim::Transfer& transfer = schedule.transfers[message];
            EXPECT_EQ(transfer.rank, message);
            EXPECT_EQ(transfer.bytes.value(), 2.5);
            EXPECT_EQ(transfer.bytes_before.value(), 2.5 * message);
            EXPECT_EQ(transfer.hop_count, 1U);
            EXPECT_EQ(shifts.table()[transfer.destination_shift * 3 + 1], 1U);
        }
        EXPECT_EQ(schedule.roles.size(), 1U);
        EXPECT_EQ(schedule.roles[0].first_transfer, 0U);
        EXPECT_EQ(schedule.roles[0].transfer_count, 4U);
        EXPECT_EQ(schedule.roles[0].arrivals, 4U);
        EXPECT_EQ(schedule.role_of_place, (std::vector<std::uint32_t>{0, 0, 0}));
        EXPECT_EQ(schedule.hops.size(), 1U);
        return schedule.hops.front().port;
    };
    EXPECT_EQ(ports(HostDirection::to_chip), kPcieToChip);
    EXPECT_EQ(ports(HostDirection::to_host), kPcieToHost);
}

}  // namespace
}  // namespace podsim::collectives
