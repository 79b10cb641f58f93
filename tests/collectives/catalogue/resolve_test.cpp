#include <gtest/gtest.h>
#include <string>

#include "collectives/catalogue/build_schedule.h"
#include "sim/base/error.h"
#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {
namespace {

CollectiveCall on(Operation operation, const topology::Lattice& slice, const Group& group,
                  Algorithm algorithm = Algorithm::automatic, int slices = 1) {
    return {.operation = operation,
            .slice = slice,
            .members = {group, {1, slices}},
            .algorithm = algorithm};
}

std::string error_of(const CollectiveCall& call) {
    return topology::error_of([&] { resolve(call); });
}

/// The default is trees if one factor is a line, but not
/// for two members, each the other's only neighbour.
TEST(ResolveTest, TheDefaultForLargeArrays) {
    const topology::Lattice torus = box({4, 4, 1}, 3);
    const topology::Lattice mixed = box({4, 4, 1}, 1);
    EXPECT_EQ(resolve(on(Operation::all_gather, torus, whole_axes(torus, 1))), Algorithm::two_way);
    EXPECT_EQ(resolve(on(Operation::all_gather, torus, whole_axes(torus))), Algorithm::weighted);
    EXPECT_EQ(resolve(on(Operation::reduce_scatter, mixed, whole_axes(mixed))),
              Algorithm::weighted);
    EXPECT_EQ(resolve(on(Operation::all_reduce, torus, whole_axes(torus))), Algorithm::weighted);
    EXPECT_EQ(resolve(on(Operation::all_reduce, mixed, whole_axes(mixed))),
              Algorithm::reduce_broadcast);
    EXPECT_EQ(resolve(on(Operation::all_reduce, mixed, {{0, 1, 4}})), Algorithm::two_way);
    EXPECT_EQ(resolve(on(Operation::all_reduce, mixed, {{1, 1, 4}})), Algorithm::reduce_broadcast);
    EXPECT_EQ(resolve(on(Operation::all_reduce, mixed, {{1, 1, 2}})), Algorithm::two_way);
    // Trees are still allowed there.
    EXPECT_EQ(resolve(on(Operation::all_reduce, mixed, {{1, 1, 2}}, Algorithm::reduce_broadcast)),
              Algorithm::reduce_broadcast);
    // The whole twisted slice has no line.
    const topology::Lattice twist = twisted({2, 2, 4});
    EXPECT_EQ(resolve(on(Operation::all_reduce, twist, whole_axes(twist))), Algorithm::weighted);
}

TEST(ResolveTest, SaysWhatIsAllowed) {
    const topology::Lattice ring = box({4, 1, 1}, 1);
    const Group group = whole_axes(ring);
    EXPECT_EQ(error_of(on(Operation::all_reduce, ring, group, Algorithm::reduce_broadcast)),
              "algorithm 'reduce-broadcast' does not carry out all-reduce on this group; allowed: "
              "auto, one-way, two-way, equal-parts, weighted, one-shot");
    EXPECT_EQ(error_of(on(Operation::all_reduce, box({4, 1, 1}, 0), group, Algorithm::shortest)),
              "algorithm 'shortest-routes' does not carry out all-reduce on this group; allowed: "
              "auto, one-way, two-way, equal-parts, weighted, one-shot, reduce-broadcast");
    EXPECT_EQ(error_of(on(Operation::all_to_all, ring, group, Algorithm::two_way)),
              "algorithm 'two-way' does not carry out all-to-all on this group; allowed: auto, "
              "shortest-routes, one-way");
    EXPECT_EQ(error_of(on(Operation::all_to_all, ring, group, Algorithm::flat)),
              "algorithm 'flat' is for several slices; allowed for one slice: auto and the others");
    EXPECT_EQ(error_of(on(Operation::broadcast, ring, group, Algorithm::flat)),
              "algorithm 'flat' does not carry out broadcast on this group; allowed: auto, "
              "disjoint-trees");
}

TEST(ResolveTest, BetweenSlices) {
    const topology::Lattice torus = box({4, 4, 1}, 3);
    const topology::Lattice line = box({4, 1, 1}, 0);
    const Group whole = whole_axes(torus);
    const auto between = [](Operation operation, const topology::Lattice& slice, const Group& group,
                            Algorithm algorithm = Algorithm::automatic) {
        return on(operation, slice, group, algorithm, 2);
    };
    EXPECT_EQ(resolve(between(Operation::all_gather, torus, whole)), Algorithm::weighted);
    EXPECT_EQ(resolve(between(Operation::all_to_all, torus, whole)), Algorithm::shortest);
    EXPECT_EQ(resolve(between(Operation::all_gather, torus, whole, Algorithm::flat)),
              Algorithm::flat);
    // Between slices an AllReduce takes its factors as a
    // ReduceScatter and an AllGather do, without trees on its lines.
    EXPECT_EQ(resolve(between(Operation::all_reduce, line, whole_axes(line))), Algorithm::two_way);
    EXPECT_EQ(error_of(between(Operation::all_reduce, line, whole_axes(line), Algorithm::one_shot)),
              "algorithm 'one-shot' does not carry out all-gather on this group; allowed: auto, "
              "one-way, two-way, equal-parts, weighted, flat");
    // Single chips share nothing within their slice.
    EXPECT_EQ(resolve(between(Operation::all_gather, torus, {})), Algorithm::flat);
    EXPECT_EQ(resolve(between(Operation::all_reduce, torus, {})), Algorithm::flat);
    EXPECT_EQ(resolve(between(Operation::all_reduce, torus, {}, Algorithm::flat)), Algorithm::flat);
    EXPECT_EQ(resolve(between(Operation::all_to_all, torus, {})), Algorithm::shortest);
    EXPECT_EQ(error_of(between(Operation::all_to_all, torus, whole, Algorithm::flat)),
              "algorithm 'flat' does not carry out all-to-all; allowed: auto, shortest-routes, "
              "one-way");
}

}  // namespace
}  // namespace podsim::collectives
