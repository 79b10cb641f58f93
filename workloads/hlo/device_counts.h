// Devices that a collective's groups name: by replicas, partitions or devices.
//
// A program runs as R replicas of P partitions. Device r P + p is partition p of replica r. Numbers of a group are
//   no channel_id                                  replicas: those of one partition meet
//   channel_id, of all-to-all, permutes, broadcast partitions: those of one replica meet
//   channel_id, of all-gather, all-reduce, reduce-scatter
//     without use_global_device_ids                replicas with all of their partitions: {{0}} of one replica is everybody
//     use_global_device_ids=true                   devices
// An empty list is all that there are. JAX writes the last form; others come from pmap, other frameworks and tests.
// Source: openxla/xla @183fa00 (22 August 2026), xla/hlo/ir/collective_op_group_mode.cc; xla/service/collective_ops_utils.cc,
// GetCollectiveOpGroupMode and GetParticipatingFlattenedIdGroups.
#pragma once

#include <cstdint>
#include <utility>
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

/// Throws sim::InputError for groups and pairs that cannot be read.
NamedIds named_ids(const Module& module);

/// As the header states them: XLA writes a count that is not 1. Many dumps have none; there replicas and devices are as many as groups
/// name, and `devices` where the user says more. If ids are beyond what is stated, all are devices' numbers: one replica of them.
DeviceCounts device_counts(const Module& module, std::int64_t devices = 0);

/// The groups in devices' numbers; empty where everybody is in one. Ids beyond the counts are taken as devices' numbers.
DeviceGroups participants(const Instruction& collective, const DeviceCounts& counts);
/// From, to of a permute, likewise.
std::vector<std::pair<std::int64_t, std::int64_t>> transfers(const Instruction& permute,
                                                             const DeviceCounts& counts);
/// Ids are beyond what the header states.
bool names_beyond(const Instruction& collective, const DeviceCounts& counts);

}  // namespace podsim::workloads::hlo
