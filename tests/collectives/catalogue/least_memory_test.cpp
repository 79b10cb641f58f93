// Lower bounds of the bytes that members read and write in their memories: by hand, and against the
// bytes of every algorithm's schedule.
#include <gtest/gtest.h>

#include "collectives/catalogue/bounds.h"
#include "tests/collectives/carriers/collective_support.h"
#include "tests/collectives/slices/slices_support.h"

namespace podsim::collectives {
namespace {

/// Returns the bytes that the messages of a run read and write, over all places.
double moved(const Outcome& run) {
    double sum = 0;
    const sim::Schedule& schedule = run.built.schedule;
    for (const std::uint32_t number : schedule.role_of_place) {
        if (number == sim::kAbsent) {
            continue;
        }
        const sim::Role& role = schedule.roles[number];
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            const sim::Transfer& transfer = schedule.transfers[role.first_transfer + i];
            if (transfer.hop_count > 0) {
                sum += transfer.bytes.value() * (transfer.reads + transfer.writes);
            }
        }
    }
    return sum;
}

double least(Operation operation, int n, double v) {
    return least_memory(operation, n, sim::Bytes(v)).value();
}

// V = 48 B in blocks of 12 among four. AllGather: 12 read, 36 written.
// ReduceScatter: 48 read, 12 written, and 36 of sums that land, twice. AllReduce:
// 48, 48 and again 72. AllToAll: 3 B for each of three others, and from them. A
// gather reads 36 in all and writes 36 at its root, a quarter of 72 for each.
TEST(LeastMemory, OfFourMembersByHand) {
    EXPECT_EQ(least(Operation::all_gather, 4, 48), 12 + 36);
    EXPECT_EQ(least(Operation::reduce_scatter, 4, 48), 48 + 12 + 2 * 36);
    EXPECT_EQ(least(Operation::all_reduce, 4, 48), 48 + 48 + 2 * 36);
    EXPECT_EQ(least(Operation::all_to_all, 4, 48), 9 + 9);
    EXPECT_EQ(least(Operation::permute, 4, 48), 12 + 12);
    EXPECT_EQ(least(Operation::broadcast, 4, 48), (48 + 3 * 48) / 4);
    EXPECT_EQ(least(Operation::gather, 4, 48), (36 + 36) / 4);
    EXPECT_EQ(least(Operation::scatter, 4, 48), (36 + 36) / 4);
    EXPECT_EQ(least(Operation::send, 2, 48), (48 + 48) / 2);
    for (const Operation operation : all_operations()) {
        EXPECT_EQ(least(operation, 1, 48), 0);
    }
}

// With two members nothing can be passed on, so that an
// AllGather and a ReduceScatter reach the lower bound.
TEST(LeastMemory, IsReachedByTwoMembers) {
    Case c;
    c.slice = box({2, 1, 1}, 0);
    c.group = whole_axes(c.slice);
    c.v = sim::Bytes(64e3);
    c.link.rate = sim::BytesPerSecond(1e9);
    c.algorithm = Algorithm::two_way;
    for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter}) {
        c.operation = operation;
        EXPECT_EQ(moved(run_on(c.slice, c)) / 2, least(operation, 2, 64e3)) << to_string(operation);
    }
}

// Every operation by every algorithm, on rings, lines and both together, moves at least the lower
// bound. If all data goes straight from source to destination, it moves exactly that.
TEST(LeastMemory, IsMovedByEveryAlgorithm) {
    for (const OperationInfo& row : operation_rows()) {
        for (const unsigned wrapped : {3U, 1U, 0U}) {
            Case c;
            c.operation = row.operation;
            c.slice = box({3, 4, 1}, wrapped);
            c.group = row.ends == EndsTaken::two_chips ? Group{} : whole_axes(c.slice);
            c.v = sim::Bytes(144e3);
            c.link.rate = sim::BytesPerSecond(1e9);
            c.ends = {.root = {1, 0, 0}, .to = {0, 1, 0}, .shift = 2};
            const int n = row.ends == EndsTaken::two_chips ? 2 : 12;
            for (const Algorithm algorithm : row.algorithms(c.call())) {
                c.algorithm = algorithm;
                const double by_schedule = moved(run_on(c.slice, c)) / n;
                const double bound = least(row.operation, n, 144e3);
                EXPECT_LE(bound, by_schedule * (1 + 1e-12)) << describe(c);
                if (row.routed && row.operation != Operation::broadcast) {
                    EXPECT_NEAR(bound, by_schedule, 1e-6) << describe(c);
                }
            }
        }
    }
}

TEST(LeastMemory, IsMovedByRandomCollectives) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const Case c = random_case(random, 6, 60);
        const double by_schedule = moved(run_on(c.slice, c)) / c.slice.size();
        EXPECT_LE(least(c.operation, group_size(c.group), c.v.value()),
                  by_schedule * (1 + 1e-12) + 1e-9)
            << describe(c);
    }
}

// The members are those of all slices.
TEST(LeastMemory, IsMovedBetweenSlices) {
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const SlicesCase c = random_slices_case(random, 4, 16, 4);
        const double by_schedule = moved(run_on(c.whole(), c)) / c.whole().size();
        EXPECT_LE(least(c.within.operation, c.members().size(), c.within.v.value()),
                  by_schedule * (1 + 1e-12) + 1e-9)
            << describe(c);
    }
}

// The bytes that a member must send are read, those that it must receive are written: together no
// more than the mean over all members.
TEST(LeastMemory, IsNoLessThanWhatGoesInAndOut) {
    for (const Operation operation : all_operations()) {
        for (int n = 1; n < 9; ++n) {
            const LeastTraffic traffic = least_traffic(operation, n, sim::Bytes(840));
            EXPECT_LE((traffic.send + traffic.receive).value(),
                      least(operation, n, 840) * (1 + 1e-15));
        }
    }
}

}  // namespace
}  // namespace podsim::collectives
