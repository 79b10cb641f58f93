// The compute stream of one chip, from spans made by hand.
#include "scenarios/src/simulate/stream_account.h"

#include <gtest/gtest.h>
#include <map>

namespace podsim::scenarios {
namespace {

using workloads::OpIndex;
using workloads::Pass;
using workloads::Purpose;

/// A program under construction: each operation is added with its span.
struct Made {
    workloads::StepProgram program;
    ChipRun chip;

    OpIndex add(workloads::Work work, std::int64_t began, std::int64_t ended,
                std::vector<OpIndex> after = {}, Pass pass = Pass::forward, std::int64_t sent = 0) {
        workloads::Op op;
        op.work = std::move(work);
        op.pass = pass;
        op.after = std::move(after);
        program.ops.push_back(std::move(op));
        chip.began.push_back({began});
        chip.ended.push_back({ended});
        chip.sent.push_back({sent});
        return static_cast<OpIndex>(program.ops.size() - 1);
    }
};

workloads::Collective gather(Purpose purpose, std::vector<std::string> axes = {"fsdp", "context"}) {
    return {.operation = collectives::Operation::all_gather,
            .purpose = purpose,
            .axes = std::move(axes),
            .bytes = sim::Bytes(1)};
}

std::map<std::string, std::int64_t> map_of(const std::vector<Share>& shares) {
    std::map<std::string, std::int64_t> map;
    for (const Share& share : shares) {
        map[share.name] += share.time.ps;
    }
    return map;
}

// One operation computes in [5, 20) after a gather of [0, 5). Another computes in [30, 40), after a
// gather of [10, 28) beside the first and one behind it that ends at 30.
TEST(Stream, WaitsForTheChainThatHeldItUp) {
    Made made;
    const OpIndex first = made.add(gather(Purpose::weights), 0, 5);
    const OpIndex work = made.add(workloads::Compute{}, 5, 20, {first});
    const OpIndex slow = made.add(gather(Purpose::tensor, {"tensor"}), 10, 28, {first});
    const OpIndex last = made.add(gather(Purpose::gradients, {"data"}), 28, 30, {slow});
    made.add(workloads::Compute{}, 30, 40, {work, last}, Pass::backward);
    const std::vector<Stretch> stream = stream_of(made.program, made.chip, sim::Time{40});
    ASSERT_EQ(stream.size(), 5U);
    const auto expect = [&](std::size_t i, std::int64_t from, std::int64_t until,
                            const std::string& name, bool busy) {
        EXPECT_EQ(stream[i].from.ps, from) << i;
        EXPECT_EQ(stream[i].until.ps, until) << i;
        EXPECT_EQ(stream[i].name, name) << i;
        EXPECT_EQ(stream[i].busy, busy) << i;
    };
    expect(0, 0, 5, "AllGather over fsdp+context (weights)", false);
    expect(1, 5, 20, "forward", true);
    expect(2, 20, 28, "AllGather over tensor (tensor)", false);
    expect(3, 28, 30, "AllGather over data (gradients)", false);
    expect(4, 30, 40, "backward", true);
    const StreamAccount account = account_stream(made.program, made.chip, sim::Time{40});
    EXPECT_EQ(account.busy.ps, 25);
    EXPECT_EQ(account.waited.ps, 15);
    EXPECT_EQ(account.end.ps, 40);
    EXPECT_EQ(map_of(account.by_pass),
              (std::map<std::string, std::int64_t>{{"forward", 15}, {"backward", 10}}));
}

// The stream also waits for operations behind the last computation, then for other chips of
// the stage.
TEST(Stream, EndsWithWhatRunsBehindIt) {
    Made made;
    const OpIndex work = made.add(workloads::Compute{}, 0, 10);
    made.add(workloads::HostTransfer{.direction = collectives::HostDirection::to_host,
                                     .bytes = sim::Bytes(1)},
             10, 25, {work});
    const StreamAccount account = account_stream(made.program, made.chip, sim::Time{32});
    EXPECT_EQ(
        map_of(account.waited_for),
        (std::map<std::string, std::int64_t>{{"PCIe to the host (offload)", 15}, {kImbalance, 7}}));
    EXPECT_EQ(account.end.ps, 32);
}

// Rows are sent at 30 and arrive at 36; the wait until 30 is a bubble. The last member of the
// collective begins at 50.
TEST(Stream, TellsBubblesAndImbalanceFromTransfers) {
    Made made;
    const OpIndex work = made.add(workloads::Compute{}, 0, 10);
    const OpIndex rows =
        made.add(workloads::Handover{.message = 0, .sends = false, .bytes = sim::Bytes(1)}, 10, 36,
                 {work}, Pass::forward, 30);
    const OpIndex more = made.add(workloads::Compute{}, 36, 44, {rows});
    const OpIndex shared =
        made.add(gather(Purpose::context, {"context"}), 44, 53, {more}, Pass::forward, 50);
    made.add(workloads::Compute{}, 53, 54, {shared});
    const StreamAccount account = account_stream(made.program, made.chip, sim::Time{54});
    EXPECT_EQ(map_of(account.waited_for),
              (std::map<std::string, std::int64_t>{{kBubble, 20},
                                                   {"handover (pipeline)", 6},
                                                   {kImbalance, 6},
                                                   {"AllGather over context (context)", 3}}));
}

TEST(Stream, NamesTransfersFromTheHost) {
    Made made;
    const OpIndex load =
        made.add(workloads::HostTransfer{.direction = collectives::HostDirection::to_chip,
                                         .bytes = sim::Bytes(1)},
                 0, 8);
    made.add(workloads::Compute{}, 8, 9, {load});
    EXPECT_EQ(map_of(account_stream(made.program, made.chip, sim::Time{9}).waited_for),
              (std::map<std::string, std::int64_t>{{"PCIe from the host (offload)", 8}}));
}

// There are two microbatches: forward units of 10 and 12, with 4 for their blocking collective, and
// backward ones of 20. Weights, ring steps and operations of no layer do not count.
TEST(Passes, AreTheMeansOfTheirUnits) {
    using Kind = workloads::PipelineUnit::Kind;
    Made made;
    const auto in_layer = [&](OpIndex op) { made.program.ops[op].layer = 0; };
    std::vector<workloads::PipelineUnit> order;
    std::int64_t now = 0;
    for (const auto& [kind, microbatch] :
         {std::pair{Kind::forward, 0}, std::pair{Kind::forward, 1}, std::pair{Kind::backward, 0},
          std::pair{Kind::backward, 1}}) {
        workloads::PipelineUnit unit{};
        unit.kind = kind;
        unit.microbatch = microbatch;
        order.push_back(unit);
        made.program.units.push_back(static_cast<OpIndex>(made.program.ops.size()));
        const bool forward = kind == Kind::forward;
        const std::int64_t compute = forward ? 10 + 2 * microbatch : 20;
        in_layer(made.add(workloads::Compute{}, now, now + compute));
        if (forward) {
            in_layer(made.add(gather(Purpose::tensor), now + compute, now + compute + 4));
            in_layer(made.add(gather(Purpose::weights), now, now + 1000));
            in_layer(made.add(gather(Purpose::gradients), now, now + 1000));
            workloads::Collective step = gather(Purpose::tensor);
            step.step.emplace();
            in_layer(made.add(step, now, now + 1000));
            made.add(workloads::Compute{}, now, now + 1000);  // the embedding
        }
        in_layer(made.add(workloads::Compute{}, now, now + 1000, {}, Pass::optimizer));
        now += 100;
    }
    const workloads::PassTimes times = account_passes(made.program, order, made.chip);
    EXPECT_DOUBLE_EQ(times.forward.value(), 15e-12);
    EXPECT_DOUBLE_EQ(times.input_gradients.value(), 20e-12);
    EXPECT_EQ(times.weight_gradients.value(), 0);
}

}  // namespace
}  // namespace podsim::scenarios
