// Participants of a collective, in all four meanings of
// its groups, against the definition device by device.
#include "workloads/hlo/device_counts.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <string>

#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

using DeviceSets = std::set<std::set<std::int64_t>>;

Module module_with(const std::string& header, const std::string& collective) {
    return read_module("HloModule m" + header +
                           "\ne {\n a = f32[8] parameter(0)\n ROOT c = f32[8] " + collective +
                           "\n}\n",
                       "m.txt");
}

const Instruction& collective_in(const Module& module) {
    return module.computations[0].root_instruction();
}

/// Returns the groups as sets; without groups, one set of all devices.
DeviceSets sets_of(const std::string& header, const std::string& collective) {
    const Module module = module_with(header, collective);
    const DeviceCounts counts = device_counts(module);
    const Participants found = participants(module, collective_in(module), counts);
    DeviceSets sets;
    if (!found.digits) {
        return sets;
    }
    for (std::int64_t device = 0; device < counts.devices(); ++device) {
        std::set<std::int64_t> group{device};
        for (const Digit& digit : *found.digits) {
            for (const std::int64_t member : std::set<std::int64_t>(group)) {
                const std::int64_t at = member / digit.stride % digit.length;
                for (std::int64_t i = 0; i < digit.length; ++i) {
                    group.insert(member + (i - at) * digit.stride);
                }
            }
        }
        sets.insert(group);
    }
    const std::vector<std::int64_t> first = found.first();
    EXPECT_TRUE(sets.contains({first.begin(), first.end()}));
    EXPECT_EQ(found.size, static_cast<std::int64_t>(first.size()));
    return sets;
}

std::string counts_text(std::int64_t replicas, std::int64_t partitions) {
    return fmt::format("{}{}", replicas > 1 ? fmt::format(", replica_count={}", replicas) : "",
                       fmt::format(", num_partitions={}", partitions));
}

/// Returns `{{0,1},{2,3}}`: ids in groups of `size`; empty for size 0.
std::string ids_in(std::int64_t count, std::int64_t size) {
    std::string text = "{";
    for (std::int64_t id = 0; size > 0 && id < count; ++id) {
        text += id % size == 0 ? (id > 0 ? ",{" : "{") : ",";
        text += std::to_string(id);
        text += id % size == size - 1 ? "}" : "";
    }
    return text + "}";
}

// Two devices r P + p are in one group if their ids are: ids are replicas r of one p, partitions p
// of one r, whole replicas r of any p, or devices themselves. The test covers every R x P up to 4 x
// 4, every size of groups that divides, and the empty list.
TEST(HloDeviceCounts, EveryModeOverEveryCount) {
    struct Mode {
        const char* text;
        std::int64_t (*id)(std::int64_t device, std::int64_t partitions);
        std::int64_t (*apart)(std::int64_t device, std::int64_t partitions);
        bool of_replicas;
        bool of_devices = false;
    };
    const auto replica = [](std::int64_t device, std::int64_t p) { return device / p; };
    const auto partition = [](std::int64_t device, std::int64_t p) { return device % p; };
    const auto itself = [](std::int64_t device, std::int64_t) { return device; };
    const auto none = [](std::int64_t, std::int64_t) { return std::int64_t{0}; };
    const std::vector<Mode> modes{
        {"all-reduce(a), replica_groups={}", replica, partition, true},
        {"all-to-all(a), dimensions={{0}}, replica_groups={}", replica, partition, true},
        {"collective-broadcast(a), channel_id=1, replica_groups={}", partition, replica, false},
        {"all-to-all(a), channel_id=1, dimensions={{0}}, replica_groups={}", partition, replica,
         false},
        {"all-reduce(a), channel_id=1, replica_groups={}", replica, none, true},
        {"all-gather(a), channel_id=1, dimensions={{0}}, use_global_device_ids=false, "
         "replica_groups={}",
         replica, none, true},
        {"reduce-scatter(a), channel_id=1, use_global_device_ids=true, dimensions={{0}}, "
         "replica_groups={}",
         itself, none, false, true}};
    for (std::int64_t r = 1; r <= 4; ++r) {
        for (std::int64_t p = 1; p <= 4; ++p) {
            for (const Mode& mode : modes) {
                const std::int64_t ids = mode.of_devices ? r * p : mode.of_replicas ? r : p;
                for (std::int64_t size = 0; size <= ids; ++size) {
                    if (size > 0 && ids % size != 0) {
                        continue;
                    }
                    DeviceSets expected;
                    for (std::int64_t device = 0; device < r * p; ++device) {
                        std::set<std::int64_t> group;
                        for (std::int64_t other = 0; other < r * p; ++other) {
                            const bool together =
                                size == 0 || mode.id(device, p) / size == mode.id(other, p) / size;
                            if (together && mode.apart(device, p) == mode.apart(other, p)) {
                                group.insert(other);
                            }
                        }
                        expected.insert(group);
                    }
                    const std::string text =
                        fmt::format(fmt::runtime(mode.text), ids_in(ids, size));
                    EXPECT_EQ(sets_of(counts_text(r, p), text), expected)
                        << text << " of " << r << " x " << p;
                }
            }
        }
    }
}

// A regression: this example counted 0 bytes; the
// group is the one replica with its four partitions.
TEST(HloDeviceCounts, AChannelWithoutGlobalIdsMeansWholeReplicas) {
    EXPECT_EQ(sets_of(", num_partitions=4", "all-reduce(a), channel_id=1, replica_groups={{0}}"),
              (DeviceSets{{0, 1, 2, 3}}));
    EXPECT_EQ(sets_of(", num_partitions=4", "all-reduce(a), replica_groups={{0}}"),
              (DeviceSets{{0}, {1}, {2}, {3}}));
}

std::string transfers_text(const std::string& header, const std::string& rest) {
    const Module module = module_with(header, "collective-permute(a), " + rest);
    std::string text;
    for (const auto& [from, to] : transfers(module, collective_in(module), device_counts(module))) {
        text += fmt::format("{}>{} ", from, to);
    }
    return text;
}

TEST(HloDeviceCounts, PermutesGoBetweenReplicasOrPartitions) {
    const std::string header = ", replica_count=2, num_partitions=3";
    EXPECT_EQ(transfers_text(header, "source_target_pairs={{0,1},{1,0}}"),
              "0>3 3>0 1>4 4>1 2>5 5>2 ");
    EXPECT_EQ(transfers_text(header, "channel_id=1, source_target_pairs={{0,1},{1,2},{2,0}}"),
              "0>1 1>2 2>0 3>4 4>5 5>3 ");
    EXPECT_EQ(transfers_text(header, "channel_id=1, source_target_pairs={{0,3},{3,0}}"),
              "0>3 3>0 ");
}

// Many dumps state no counts: their only source is the ids.
TEST(HloDeviceCounts, WithoutAHeaderIdsSayHowMany) {
    const auto counts = [](const std::string& header, const std::string& collective,
                           std::int64_t devices = 0) {
        const DeviceCounts found = device_counts(module_with(header, collective), devices);
        return fmt::format("{} x {}{}", found.replicas, found.partitions,
                           found.stated ? " stated" : "");
    };
    const std::string four = "all-reduce(a), replica_groups={{0,1,2,3}}";
    const std::string global =
        "all-reduce(a), channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3}}";
    EXPECT_EQ(counts("", four), "4 x 1");
    EXPECT_EQ(counts("", global), "1 x 4");
    EXPECT_EQ(counts("", four, 8), "4 x 2");
    EXPECT_EQ(counts("", four, 6), "1 x 6");  // no whole number of partitions: ids are devices
    EXPECT_EQ(counts(", num_partitions=4", global), "1 x 4 stated");
    EXPECT_EQ(counts(", replica_count=4", four), "4 x 1 stated");
    EXPECT_EQ(counts(", num_partitions=16777216", four), "1 x 16777216 stated");
}

// A regression: such counts were read as the nearest
// valid one, 1e3 as 1, larger ones as 16 million.
TEST(HloDeviceCounts, CountsOfTheHeaderThatAreNone) {
    const auto refused = [](const std::string& header) {
        try {
            module_with(header, "negate(a)");
        } catch (const sim::InputError& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    const std::string remedy = "; a count is a whole number of 1 to 16 million";
    for (const char* const key : {"num_partitions", "replica_count"}) {
        for (const char* const count :
             {"0", "-2", "1e3", "2x", "many", "16777217", "18446744073709551617"}) {
            EXPECT_EQ(refused(fmt::format(", {}={}", key, count)),
                      fmt::format("m.txt:1:1: {}={}{}", key, count, remedy));
        }
    }
    EXPECT_EQ(refused(", replica_count=4097, num_partitions=4096"),
              "m.txt:1:1: 4097 replicas of 4096 partitions are more than 16 million devices");
    EXPECT_EQ(refused(", replica_count=4096, num_partitions=4096"), "none");
}

// Meshes of no regular form are listed, of 400,000 devices each; the third does not fit into the
// budget and is refused at its line.
TEST(HloDeviceCounts, ListsOfAModuleHaveABudget) {
    std::string text = "HloModule m\ne {\n a = f32[8] parameter(0)\n";
    for (int i = 0; i < 3; ++i) {
        text += fmt::format(
            " r{0} = f32[8] all-reduce(a), replica_groups=mesh['x'={1},'y'=12], "
            "device_ids=([8,{2}]T(1,0)) {{'x'}}\n",
            i, 2 * (16667 + i), 3 * (16667 + i));
    }
    try {
        read_module(text + "}\n", "m.txt");
        FAIL();
    } catch (const sim::InputError& error) {
        EXPECT_STREQ(
            error.what(),
            "m.txt:6:2: 'r2': groups of no regular form, of more than 1048576 devices with "
            "those before");
    }
}

// XLA's own verifier lets these ids pass; they are read as devices, and reported.
TEST(HloDeviceCounts, IdsBeyondTheHeader) {
    const auto beyond = [](const std::string& header, const std::string& collective) {
        const Module module = module_with(header, collective);
        return names_beyond(module, collective_in(module), device_counts(module));
    };
    const std::string four = "all-reduce(a), replica_groups={{0,1},{2,3}}";
    EXPECT_TRUE(beyond(", num_partitions=4", four));
    EXPECT_FALSE(beyond(", replica_count=4", four));
    EXPECT_FALSE(beyond("", four));
    EXPECT_EQ(sets_of(", num_partitions=4", four), (DeviceSets{{0, 1}, {2, 3}}));
}

}  // namespace
}  // namespace podsim::workloads::hlo
