// Operations that do the same work share the result of the first.
#include "workloads/program/alike_work.h"

#include <gtest/gtest.h>
#include <vector>

namespace podsim::workloads {
namespace {

Op computing(double flops, int layer) {
    Op op{.name = {}, .layer = layer, .work = {}, .after = {}};
    Compute work;
    work.flops = sim::Flops(flops);
    work.matmuls = {{flops, 1, 1}};
    op.work = work;
    return op;
}

Op gathering(double bytes) {
    Op op{.name = {}, .work = {}, .after = {}};
    op.work = Collective{.operation = collectives::Operation::all_gather,
                         .purpose = Purpose::weights,
                         .axes = {"fsdp"},
                         .bytes = sim::Bytes(bytes)};
    return op;
}

// Two layers of three operations have another between them; then come one that differs only in its
// dtype, and the second layer's last.
TEST(AlikeWorkTest, IsThatOfTheFirst) {
    StepProgram program;
    program.ops = {gathering(8), computing(2, 0), computing(3, 0), computing(9, -1),
                   gathering(8), computing(2, 1), computing(3, 1)};
    program.ops.push_back(computing(3, 2));
    std::get<Compute>(program.ops.back().work).dtype = MatmulDtype::int8;
    program.ops.push_back(computing(3, 3));
    find_alike(program);
    EXPECT_EQ(program.first_alike, (std::vector<OpIndex>{0, 1, 2, 3, 0, 1, 2, 7, 2}));
}

TEST(AlikeWorkTest, IsFoundOnce) {
    StepProgram program;
    program.ops = {computing(2, 0), gathering(8), computing(2, 1), computing(2, 2), gathering(8)};
    const auto times_found = [&] {
        int found = 0;
        OfAlike<double> flops(program);
        for (OpIndex op = 0; op < program.ops.size(); ++op) {
            if (const auto* work = std::get_if<Compute>(&program.ops[op].work)) {
                EXPECT_EQ(flops.of(op,
                                   [&] {
                                       ++found;
                                       return work->flops.value();
                                   }),
                          2);
            }
        }
        return found;
    };
    EXPECT_EQ(times_found(), 3);  // nothing is cached yet
    find_alike(program);
    EXPECT_EQ(times_found(), 1);
}

}  // namespace
}  // namespace podsim::workloads
