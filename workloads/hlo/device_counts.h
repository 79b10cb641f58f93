// The devices that a collective's groups name: as replicas, partitions or devices.
//
// A program runs as R replicas of P partitions. Device r P + p is partition p of replica r. The
// numbers of a group are
//   no channel_id                                    replicas; members share a partition
//   channel_id, of all-to-all, permutes, broadcast   partitions; members share a replica
//   channel_id, of all-gather, all-reduce, reduce-scatter
//     without use_global_device_ids                  replicas with all of their partitions: with
//                                                    one replica, {{0}} is all devices
//     use_global_device_ids=true                     devices
// An empty list stands for all of them. JAX writes the last form; the others come from pmap, other
// frameworks and tests.
// Source: openxla/xla @183fa00 (22 August 2026), xla/hlo/ir/collective_op_group_mode.cc;
// xla/service/collective_ops_utils.cc, GetCollectiveOpGroupMode and
// GetParticipatingFlattenedIdGroups.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/hlo/device_groups.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

enum class GroupMode { replicas, partitions, whole_replicas, devices };
GroupMode group_mode(const Instruction& collective);

struct DeviceCounts {
    std::int64_t replicas = 1;
    std::int64_t partitions = 1;
    bool stated = false;  ///< by the header

    [[nodiscard]] std::int64_t devices() const { return replicas * partitions; }
};

/// Reads the members of every collective (Module::members), the ids that they name and the counts
/// of the header. Throws sim::InputError for text that cannot be read, for counts that are not
/// whole numbers from 1 to 16 million, and if meshes of no regular form list more than 1 million
/// devices (kMostListed) in all.
void read_members(Module& module);

/// Returns the counts of the header; XLA writes a count that is not 1. Many dumps have none:
/// replicas and devices are then as many as groups name, or `devices`, the user's number, if it is
/// larger. If ids are beyond the stated counts, all ids are device numbers: there is one replica.
DeviceCounts device_counts(const Module& module, std::int64_t devices = 0);

/// The groups of a collective in device numbers. If ids are beyond the counts, they are device
/// numbers.
struct Participants {
    /// True if all devices are in one group, as an empty list states.
    bool everybody = false;
    /// Digits of the groups; nothing if the groups are not regular (digits_of).
    std::optional<std::vector<Digit>> digits;
    /// Members of the first group as written.
    std::int64_t size = 1;
    /// Smallest device of the first group, if groups are regular.
    std::int64_t base = 0;
    /// Ids of the first group as written, if groups are not regular.
    std::vector<std::int64_t> listed{};
    /// Distance in devices from one id to the next.
    std::int64_t stride = 1;
    /// Consecutive devices for which an id stands.
    std::int64_t inner = 1;

    /// Returns the devices of the first group.
    [[nodiscard]] std::vector<std::int64_t> first() const;
};
Participants participants(const Module& module, const Instruction& collective,
                          const DeviceCounts& counts);
/// Returns the pairs of a permute, likewise in device numbers.
DevicePairs transfers(const Module& module, const Instruction& permute, const DeviceCounts& counts);
/// True if the ids of a collective are beyond the counts that the header states.
bool names_beyond(const Module& module, const Instruction& collective, const DeviceCounts& counts);
/// True if a device sends to another one.
bool moves(const Module& module, const Instruction& permute);

}  // namespace podsim::workloads::hlo
