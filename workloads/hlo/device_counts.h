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

/// Reads who takes part in every collective (Module::members), which ids they name, and the counts of the header. Throws sim::InputError
/// for what cannot be read, for counts that are no whole numbers of 1 to 16 million, and where meshes of no regular form list more than
/// 1 million devices (kMostListed) in all.
void read_members(Module& module);

/// As the header states them: XLA writes a count that is not 1. Many dumps have none; there replicas and devices are as many as groups
/// name, and `devices` where the user says more. If ids are beyond what is stated, all are devices' numbers: one replica of them.
DeviceCounts device_counts(const Module& module, std::int64_t devices = 0);

/// The groups of a collective in devices' numbers. Ids beyond the counts are taken as devices' numbers.
struct Participants {
    bool everybody = false;                    ///< all in one group, as an empty list says
    std::optional<std::vector<Digit>> digits;  ///< nothing: the groups are not regular (digits_of)
    std::int64_t size = 1;                     ///< members of the first group as written
    std::int64_t base = 0;                     ///< its smallest one, where groups are regular
    std::vector<std::int64_t> listed{};        ///< its ids as written, where they are not,
    std::int64_t stride = 1;                   ///< of which one is so many devices from the next
    std::int64_t inner = 1;                    ///< and each stands for so many that follow

    /// Members of that group.
    [[nodiscard]] std::vector<std::int64_t> first() const;
};
Participants participants(const Module& module, const Instruction& collective,
                          const DeviceCounts& counts);
/// From, to of a permute, likewise.
DevicePairs transfers(const Module& module, const Instruction& permute, const DeviceCounts& counts);
/// Ids are beyond what the header states.
bool names_beyond(const Module& module, const Instruction& collective, const DeviceCounts& counts);
/// Some device sends to another.
bool moves(const Module& module, const Instruction& permute);

}  // namespace podsim::workloads::hlo
