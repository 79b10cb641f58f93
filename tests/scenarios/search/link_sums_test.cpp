// The load that the algorithms of a program put on its busiest link.
#include <gtest/gtest.h>
#include <vector>

#include "scenarios/src/search/step_outline.h"

namespace podsim::scenarios {
namespace {

using topology::Lattice;

// A line of 8. Tensor in pairs {r, r + 4}: an AllGather puts 1, 2, 3 and 4 blocks of V / 2 on the
// links up from chips 0 to 3. One over x%4 puts 1, 2, 3 and none of V / 4 there; a ReduceScatter
// 3, 2, 1 and none. All three: (1 + 4/2) V/2 ..., (3 + 4/2) V/2, 4 V/2; the maximum is that from
// chip 2.
TEST(LinkSums, OfTheBusiestLink) {
    const Lattice slice{{8, 1, 1}, {}, {}};
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
