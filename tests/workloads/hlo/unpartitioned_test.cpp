// Every mark of a module that XLA's partitioner has not seen, with its position, and the marks that
// a partitioned one may still have.
#include "workloads/hlo/unpartitioned.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

/// Returns the refusal; empty if the module is taken for a device's.
std::string refusal(const std::string& header, const std::string& body) {
    try {
        refuse_unpartitioned(read_module("HloModule m" + header +
                                             "\nENTRY %main {\n %a = f32[8,4] parameter(0)" + body +
                                             "\n ROOT %r = f32[8,4] negate(%a)\n}\n",
                                         "m.txt"));
    } catch (const sim::InputError& error) {
        EXPECT_TRUE(error.remedy().starts_with("dump *after_optimizations.txt"));
        const std::string what = error.what();
        return what.substr(0, what.find("; dump"));
    }
    return {};
}

std::string annotation(const std::string& target, const std::string& more = "",
                       const std::string& shape = "f32[8,4]") {
    return fmt::format("\n %c = {} custom-call(%a), custom_call_target=\"{}\"{}", shape, target,
                       more);
}

const std::string kNotYet = "the module is not partitioned yet: ";

// They also count beside collectives: those of a shard_map
// appear in a program that is not partitioned yet.
TEST(HloUnpartitioned, CustomCallsForThePartitioner) {
    const std::string reduce =
        "\n %s = f32[8,4] all-reduce(%a), channel_id=1, replica_groups=[1,8]<=[8], "
        "use_global_device_ids=true";
    for (const char* const target :
         {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "CustomSPMDPartitioning",
          "ShardBarrierFrom", "ShardBarrierTo", "_SPMDInternalOp_RotateRight",
          "xla.sdy.FuncResultSharding", "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape",
          "xla.sdy.PropagationBarrier", "xla.sdy.ShardingGroup"}) {
        const std::string expected = fmt::format(
            "m.txt:4:2: 'c': {}the custom call '{}' is for XLA's partitioner, and "
            "there are 8 devices",
            kNotYet, target);
        EXPECT_EQ(refusal(", num_partitions=8", annotation(target)), expected);
        EXPECT_EQ(refusal("", annotation(target) + reduce), expected);
        EXPECT_EQ(refusal(", is_scheduled=true, num_partitions=8", annotation(target)), expected);
    }
    EXPECT_EQ(refusal(", num_partitions=8", annotation("tpu_custom_call")), "");
}

// Every text that states the number of devices is read; a program for one device is whole as it is.
TEST(HloUnpartitioned, HowManyDevicesThereAre) {
    const auto with = [](const std::string& sharding) {
        const std::string text = refusal("", annotation("Sharding", ", sharding=" + sharding));
        const std::size_t at = text.find("there are ");
        return at == std::string::npos ? text : text.substr(at + 10);
    };
    EXPECT_EQ(with("{devices=[4,2]<=[8]}"), "8 devices");
    EXPECT_EQ(with("{devices=[2,1,3]0,1,2,3,4,5 last_tile_dim_replicate}"), "6 devices");
    EXPECT_EQ(with("{{devices=[2,1]<=[2]}, {devices=[1,4]<=[4]}}"), "4 devices");
    EXPECT_EQ(with("{mesh['x1'=2,'y'=8], [{'x1'}, {}]}"), "16 devices");
    EXPECT_EQ(with("{maximal device=2}"), "3 devices");
    EXPECT_EQ(with("{replicated}"), "");
    EXPECT_EQ(with("{devices=[1,1]<=[1]}"), "");
    EXPECT_EQ(with("{maximal device=0}"), "");
    EXPECT_EQ(
        refusal("", annotation("Sharding")),
        "m.txt:4:2: 'c': " + kNotYet +
            "the custom call 'Sharding' is for XLA's partitioner, and nothing says that there "
            "is one device");
    // A part of an array is smaller than the whole.
    EXPECT_TRUE(refusal("", annotation("SPMDFullToShardShape", ", sharding={manual}", "f32[2,4]"))
                    .ends_with("there are 4 devices"));
    EXPECT_TRUE(refusal("", annotation("xla.sdy.LocalToGlobalShape", "", "f32[16,4]"))
                    .ends_with("there are 2 devices"));
}

TEST(HloUnpartitioned, AttributesOfShardy) {
    EXPECT_EQ(refusal(", frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"data\"=1, "
                      "\"expert\"=4]>}}",
                      ""),
              "m.txt:1:1: " + kNotYet +
                  "the attribute xla.sdy.meshes is for XLA's partitioner, and there are 4 devices");
    EXPECT_EQ(
        refusal(
            ", num_partitions=2",
            ", frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@mesh, [{\\\"x\\\"}, {}]>\"}"),
        "m.txt:3:2: 'a': " + kNotYet +
            "the attribute xla.sdy.sharding is for XLA's partitioner, and there are 2 devices");
    EXPECT_EQ(
        refusal(", num_partitions=2", ", frontend_attributes={mhlo.sharding=\"{replicated}\"}"),
        "m.txt:3:2: 'a': " + kNotYet +
            "the attribute mhlo.sharding is for XLA's partitioner, and there are 2 devices");
    // JAX writes so a program for one device.
    EXPECT_EQ(refusal(", frontend_attributes={xla.sdy.meshes={empty_mesh = #sdy.mesh<[]>}}",
                      annotation("xla.sdy.FuncResultSharding", ", sharding={replicated}")),
              "");
    EXPECT_EQ(
        refusal(", num_partitions=2", ", frontend_attributes={_xla_buffer_placement=\"device\"}"),
        "");
}

// Shardings alone mark a module if nothing in it belongs to one device: the partitioner leaves them
// on parameters, and compilers copy them.
TEST(HloUnpartitioned, ShardingsWithoutAnythingOfADevice) {
    const std::string sharding = ", sharding={devices=[4,2]<=[8]}";
    EXPECT_EQ(refusal(", num_partitions=8", sharding),
              "m.txt:3:2: 'a': " + kNotYet +
                  "it has shardings over 8 devices, and no collective, partition-id or schedule");
    EXPECT_EQ(refusal("",
                      "\n %d = f32[8,4] domain(%a), domain={kind=\"sharding\", entry={maximal "
                      "device=0}, exit={maximal device=1}}"),
              "m.txt:4:2: 'd': " + kNotYet +
                  "it has shardings over 2 devices, and no collective, partition-id or schedule");
    EXPECT_EQ(refusal(", is_scheduled=true, num_partitions=8", sharding), "");
    EXPECT_EQ(refusal(", num_partitions=8", sharding + "\n %p = u32[] partition-id()"), "");
    EXPECT_EQ(refusal(", num_partitions=8",
                      sharding + "\n %s = f32[8,4] all-reduce(%a), replica_groups={}"),
              "");
    EXPECT_EQ(refusal(", num_partitions=8", sharding + "\n %t = f32[8,4]{1,0:T(8,128)} copy(%a)"),
              "");
    EXPECT_EQ(refusal(", num_partitions=8", ", sharding={replicated}"), "");
    EXPECT_EQ(refusal(", num_partitions=8", ", sharding={mesh['x'=8], [{}, {}]}"), "");
    EXPECT_NO_THROW(refuse_unpartitioned(
        read_module("HloModule m, num_partitions=8\nENTRY %main.4_spmd {\n ROOT %a = f32[8] "
                    "parameter(0)" +
                        sharding + "\n}\n",
                    "m.txt")));
}

}  // namespace
}  // namespace podsim::workloads::hlo
