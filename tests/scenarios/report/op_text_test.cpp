// Names of operations that are the same in every layer.
#include "scenarios/src/report/op_text.h"

#include <gtest/gtest.h>

namespace podsim::scenarios {
namespace {

using workloads::Pass;

workloads::Op op(const std::string& name, Pass pass, workloads::Work work = workloads::Compute{}) {
    return {.name = name, .pass = pass, .layer = -1, .work = std::move(work), .after = {}};
}

TEST(OpText, NamesAddUpOverLayersAndMicrobatches) {
    const auto name = [](const std::string& full, Pass pass) { return short_name(op(full, pass)); };
    EXPECT_EQ(name("layer 3 forward qkv", Pass::forward), "qkv");
    EXPECT_EQ(name("microbatch 12 layer 103 recompute gate_up", Pass::recompute), "gate_up");
    EXPECT_EQ(name("layer 3 backward down input gradient", Pass::backward), "down input gradient");
    EXPECT_EQ(name("embedding forward lookup", Pass::forward), "embedding lookup");
    EXPECT_EQ(name("microbatch 0 unembedding backward input gradient", Pass::backward),
              "unembedding input gradient");
    EXPECT_EQ(name("optimizer update", Pass::optimizer), "optimizer update");
    EXPECT_EQ(microbatch_of(op("microbatch 12 layer 3 forward qkv", Pass::forward)), 12);
    EXPECT_EQ(microbatch_of(op("layer 3 forward qkv", Pass::forward)), -1);
}

TEST(OpText, TracksSayKindAndAxis) {
    const workloads::Op gather =
        op("layer 0 forward gather weights", Pass::forward,
           workloads::Collective{.operation = collectives::Operation::all_gather,
                                 .purpose = workloads::Purpose::weights,
                                 .axes = {"fsdp", "context"},
                                 .bytes = sim::Bytes(1)});
    EXPECT_EQ(short_name(gather), "AllGather weights");
    EXPECT_EQ(track_of(gather), "AllGather over fsdp+context");
    EXPECT_EQ(category_of(gather), "weights");
    const workloads::Op send = op("microbatch 1 stage forward send activations", Pass::forward,
                                  workloads::Handover{.sends = true, .bytes = sim::Bytes(1)});
    EXPECT_EQ(short_name(send), "send activations");
    EXPECT_EQ(track_of(send), "Send");
    EXPECT_EQ(category_of(send), "pipeline");
    EXPECT_EQ(track_of(op("", Pass::forward, workloads::Handover{})), "Receive");
    const auto transfer = [](collectives::HostDirection direction) {
        return op("layer 1 forward offload input", Pass::forward,
                  workloads::HostTransfer{.direction = direction, .bytes = sim::Bytes(1)});
    };
    EXPECT_EQ(track_of(transfer(collectives::HostDirection::to_host)), "Offload to host");
    EXPECT_EQ(track_of(transfer(collectives::HostDirection::to_chip)), "Offload from host");
    EXPECT_EQ(category_of(transfer(collectives::HostDirection::to_host)), "offload");
    EXPECT_EQ(track_of(op("layer 3 forward qkv", Pass::forward)), "XLA Ops");
    EXPECT_EQ(category_of(op("layer 3 forward qkv", Pass::forward)), "forward");
}

}  // namespace
}  // namespace podsim::scenarios
