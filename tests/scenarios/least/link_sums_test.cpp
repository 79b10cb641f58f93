// The least that collectives put on the links of a slice, against trees found the long way.
#include "scenarios/least/link_sums.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace podsim::scenarios {
namespace {

using collectives::Group;
using topology::Lattice;
using topology::Point;

Lattice slice_of(Point lengths, std::array<bool, 3> wrapped) {
    Lattice slice;
    slice.lengths = lengths;
    slice.wrapped = wrapped;
    return slice;
}

/// Links between two chips along the axes of a mask.
int apart(const Lattice& slice, unsigned mask, const Point& a, const Point& b) {
    int links = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        const int along = std::abs(a[i] - b[i]);
        if ((mask >> i & 1U) != 0) {
            links += slice.wraps(axis) ? std::min(along, slice.length(axis) - along) : along;
        }
    }
    return links;
}

std::vector<Point> members_of(const Group& group) {
    std::vector<Point> members{{}};
    for (const topology::AxisFactor& factor : group) {
        std::vector<Point> more;
        for (const Point& member : members) {
            for (int i = 0; i < factor.length; ++i) {
                more.push_back(member + topology::along(factor.axis, i * factor.stride));
            }
        }
        members = more;
    }
    return members;
}

/// Prim: the nearest of those outside joins, until all have.
double shortest_tree(const Lattice& slice, unsigned mask, const std::vector<Point>& members) {
    std::vector<int> nearest(members.size(), std::numeric_limits<int>::max());
    std::vector<bool> joined(members.size());
    nearest.front() = 0;
    double links = 0;
    for (std::size_t round = 0; round < members.size(); ++round) {
        std::size_t next = members.size();
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (!joined[i] && (next == members.size() || nearest[i] < nearest[next])) {
                next = i;
            }
        }
        joined[next] = true;
        links += nearest[next];
        for (std::size_t i = 0; i < members.size(); ++i) {
            nearest[i] = std::min(nearest[i], apart(slice, mask, members[next], members[i]));
        }
    }
    return links;
}

double mean_apart(const Lattice& slice, unsigned mask, const std::vector<Point>& members) {
    double sum = 0;
    for (const Point& from : members) {
        for (const Point& to : members) {
            sum += apart(slice, mask, from, to);
        }
    }
    const auto count = static_cast<double>(members.size());
    return sum / (count * count);
}

// On a ring of 16: x%2 and x/8 are at 0, 1, 8, 9, with gaps of 1, 7, 1 and 7, of which one of 7 is left out. Neighbours: n - 1.
TEST(LinkSums, TreesByHand) {
    const Lattice ring = slice_of({16, 4, 1}, {true, false, false});
    EXPECT_EQ(tree_links(ring, {{0, 1, 2}, {0, 8, 2}})[1], 9);
    EXPECT_EQ(tree_links(ring, {{0, 1, 16}})[1], 15);
    EXPECT_EQ(tree_links(ring, {{0, 4, 4}})[1], 12);
    // A line of 4 whose rows are such: 4 x 15 in the rows and 3 between them; along y alone 3.
    EXPECT_EQ(tree_links(ring, {{0, 1, 16}, {1, 1, 4}})[3], 63);
    EXPECT_EQ(tree_links(ring, {{0, 1, 16}, {1, 1, 4}})[2], 3);
    EXPECT_EQ(tree_links(ring, {{0, 1, 16}})[2], 0);
    // Of 4 on a line: (0 + 1 + 2 + 3 and so on) / 16 = 20 / 16; of 16 on a ring: 64 / 16.
    EXPECT_EQ(pair_links(ring, {{1, 1, 4}})[2], 1.25);
    EXPECT_EQ(pair_links(ring, {{0, 1, 16}})[3], 4);
}

TEST(LinkSums, TreesOfRandomGroups) {
    std::mt19937_64 random(20261124);
    const auto one_of = [&](std::vector<int> values) { return values[random() % values.size()]; };
    for (int round = 0; round < 400; ++round) {
        const Lattice slice = slice_of({one_of({4, 8, 12}), one_of({4, 6, 8}), one_of({1, 2, 4})},
                                       {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0});
        Group group;
        for (int axis = 0; axis < 3; ++axis) {
            int stride = 1;
            while (stride < slice.length(axis)) {
                const int rest = slice.length(axis) / stride;
                const int length = rest % 2 == 0 ? 2 : rest % 3 == 0 ? 3 : rest;
                if (random() % 2 == 0) {
                    group.push_back({axis, stride, length});
                }
                stride *= length;
            }
        }
        const auto mask = static_cast<unsigned>(1 + random() % 7);
        const std::vector<Point> members = members_of(group);
        // Seen along some axes alone members fall together, which costs nothing.
        EXPECT_EQ(tree_links(slice, group)[mask], shortest_tree(slice, mask, members));
        EXPECT_NEAR(pair_links(slice, group)[mask], mean_apart(slice, mask, members), 1e-12);
    }
}

// Of V bytes over x%2 x/8 of a ring of 16, four of whose groups share it: V / 4 x 9 links for each chip, which has two; twice that for an
// AllReduce; an AllToAll of V / 4 x (0 + 1 + 8 + 7) / 4 links. What goes over x and y counts on x for its part: with rows of 4 on a line, V / 8 x
// T(x) = 9 on x, beside the V / 4 x 9 that goes over x alone.
TEST(LinkSums, OfAProgram) {
    const Lattice slice = slice_of({16, 2, 1}, {true, false, false});
    const topology::DeviceMesh mesh(
        slice, {{"near", {{0, 1, 2}, {0, 8, 2}}}, {"far", {{0, 2, 4}}}, {"across", {{1, 1, 2}}}});
    const auto collective = [](collectives::Operation operation, std::vector<std::string> axes) {
        workloads::Op op{.name = {}, .work = {}, .after = {}};
        op.work = workloads::Collective{
            .operation = operation, .axes = std::move(axes), .bytes = sim::Bytes(4e6)};
        return op;
    };
    const auto time = [&](std::vector<workloads::Op> ops) {
        workloads::StepProgram program;
        program.ops = std::move(ops);
        return least_link_time(program, slice, mesh, sim::BytesPerSecond(1e9)).value();
    };
    using collectives::Operation;
    EXPECT_DOUBLE_EQ(time({collective(Operation::all_gather, {"near"})}), 1e-3 * 9 / 2);
    EXPECT_DOUBLE_EQ(time({collective(Operation::all_reduce, {"near"})}), 1e-3 * 9);
    EXPECT_DOUBLE_EQ(time({collective(Operation::all_to_all, {"near"})}), 1e-3 * 4 / 2);
    EXPECT_DOUBLE_EQ(time({collective(Operation::all_gather, {"near"}),
                           collective(Operation::reduce_scatter, {"near", "across"})}),
                     (1e-3 * 9 + 0.5e-3 * 9) / 2);
}

// A line of 8. Tensor in pairs {r, r + 4}: an AllGather puts 1, 2, 3 and 4 blocks of V / 2 on the links up from chips 0 to 3, and one over x%4
// 1, 2, 3 and none of V / 4; a ReduceScatter there 3, 2, 1 and none. All three: (1 + 4/2) V/2 ..., (3 + 4/2) V/2, 4 V/2, of which that
// from chip 2 is the most.
TEST(LinkSums, OfTheBusiestLink) {
    const Lattice slice = slice_of({8, 1, 1}, {false, false, false});
    const topology::DeviceMesh mesh(slice, {{"tensor", {{0, 4, 2}}}, {"fsdp", {{0, 1, 4}}}});
    const auto collective = [](collectives::Operation operation, const char* axis) {
        workloads::Op op{.name = {}, .work = {}, .after = {}};
        op.work = workloads::Collective{
            .operation = operation,
            .purpose = *axis == 't' ? workloads::Purpose::tensor : workloads::Purpose::weights,
            .axes = {axis},
            .bytes = sim::Bytes(4e6)};
        return op;
    };
    const auto time = [&](std::vector<workloads::Op> ops, TensorCollectives tensor) {
        workloads::StepProgram program;
        program.ops = std::move(ops);
        KnownBounds::OfMachine known;
        return busiest_link_time(program, slice, mesh, sim::BytesPerSecond(1e9), tensor, known)
            .value();
    };
    using collectives::Operation;
    constexpr auto kWhole = TensorCollectives::as_built;
    const workloads::Op pairs = collective(Operation::all_gather, "tensor");
    const workloads::Op gather = collective(Operation::all_gather, "fsdp");
    const workloads::Op scatter = collective(Operation::reduce_scatter, "fsdp");
    EXPECT_DOUBLE_EQ(time({pairs}, kWhole), 8e-3);
    EXPECT_DOUBLE_EQ(time({gather}, kWhole), 3e-3);
    EXPECT_DOUBLE_EQ(time({scatter}, kWhole), 3e-3);
    EXPECT_DOUBLE_EQ(time({gather, scatter}, kWhole), 4e-3);
    EXPECT_DOUBLE_EQ(time({pairs, gather, scatter}, kWhole), 10e-3);
    EXPECT_DOUBLE_EQ(time({pairs, gather, scatter}, TensorCollectives::in_steps), 4e-3);
    EXPECT_DOUBLE_EQ(time({collective(Operation::all_reduce, "fsdp")}, kWhole), 0);
}

}  // namespace
}  // namespace podsim::scenarios
