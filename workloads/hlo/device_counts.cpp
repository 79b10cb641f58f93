#include "workloads/hlo/device_counts.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace podsim::workloads::hlo {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr std::int64_t kMostCounted = std::int64_t{1} << 24;

std::optional<std::int64_t> stated_in(const Module& module, std::string_view key) {
    const std::optional<std::string_view> text = module.find(key);
    std::int64_t value = 0;
    if (!text ||
        std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) {
        return std::nullopt;
    }
    return std::clamp<std::int64_t>(value, 1, kMostCounted);
}

/// Ids that there are of what a group names.
std::int64_t ids_of(GroupMode mode, const DeviceCounts& counts) {
    switch (mode) {
        case GroupMode::partitions:
            return counts.partitions;
        case GroupMode::devices:
            return counts.devices();
        default:
            return counts.replicas;
    }
}

DeviceGroups written_groups(const Instruction& collective) {
    const std::optional<std::string_view> text = collective.find("replica_groups");
    return text && !text->empty() ? read_groups(*text) : DeviceGroups{};
}

std::int64_t most_of(const Pairs& pairs) {
    std::int64_t most = -1;
    for (const auto& [from, to] : pairs) {
        most = std::max({most, from, to});
    }
    return most + 1;
}

/// More than once each, or beyond: no expansion means anything.
bool fits(const DeviceGroups& groups, std::int64_t ids) {
    std::int64_t count = 0;
    for (const auto& group : groups.groups) {
        count += static_cast<std::int64_t>(group.size());
    }
    return groups.devices() <= ids && count <= ids;
}

/// Each group once for every one of `copies`: id `i` of copy `c` is device i x stride + c x step.
DeviceGroups copied(const DeviceGroups& groups, std::int64_t stride, std::int64_t copies,
                    std::int64_t step) {
    DeviceGroups all;
    for (const auto& group : groups.groups) {
        for (std::int64_t copy = 0; copy < copies; ++copy) {
            std::vector<std::int64_t>& of_copy = all.groups.emplace_back();
            for (const std::int64_t id : group) {
                of_copy.push_back(id * stride + copy * step);
            }
        }
    }
    return all;
}

DeviceGroups with_all_partitions(const DeviceGroups& groups, std::int64_t partitions) {
    DeviceGroups all;
    for (const auto& group : groups.groups) {
        std::vector<std::int64_t>& whole = all.groups.emplace_back();
        for (const std::int64_t replica : group) {
            for (std::int64_t partition = 0; partition < partitions; ++partition) {
                whole.push_back(replica * partitions + partition);
            }
        }
    }
    return all;
}

}  // namespace

GroupMode group_mode(const Instruction& collective) {
    if (!collective.find("channel_id")) {
        return GroupMode::replicas;
    }
    const std::string_view opcode = collective.opcode;
    if (!opcode.starts_with("all-gather") && !opcode.starts_with("all-reduce") &&
        !opcode.starts_with("reduce-scatter")) {
        return GroupMode::partitions;
    }
    return collective.find("use_global_device_ids") == "true" ? GroupMode::devices
                                                              : GroupMode::whole_replicas;
}

NamedIds named_ids(const Module& module) {
    NamedIds ids;
    for (const Computation& computation : module.computations) {
        for (const Instruction& each : computation.instructions) {
            const auto pairs = each.find("source_target_pairs");
            if (!pairs && !each.find("replica_groups")) {
                continue;
            }
            try {
                const std::int64_t named = std::max(written_groups(each).devices(),
                                                    pairs ? most_of(read_pairs(*pairs)) : 0);
                const GroupMode mode = group_mode(each);
                std::int64_t& most = mode == GroupMode::devices      ? ids.devices
                                     : mode == GroupMode::partitions ? ids.partitions
                                                                     : ids.replicas;
                most = std::max(most, named);
            } catch (const sim::InputError& error) {
                throw module.error(each, error.problem(), error.remedy());
            }
        }
    }
    return ids;
}

DeviceCounts device_counts(const Module& module, std::int64_t devices) {
    const NamedIds& ids = module.ids;
    const std::int64_t least =
        std::max({std::int64_t{1}, ids.replicas, ids.partitions, ids.devices, devices});
    const auto replicas = stated_in(module, "replica_count");
    const auto partitions = stated_in(module, "num_partitions");
    if (replicas || partitions) {
        const DeviceCounts counts{replicas.value_or(1), partitions.value_or(1), true};
        return counts.devices() >= least && counts.devices() <= kMostCounted
                   ? counts
                   : DeviceCounts{1, std::min(std::max(least, counts.devices()), kMostCounted),
                                  true};
    }
    const bool in_replicas =
        ids.replicas > 1 && least % ids.replicas == 0 && least / ids.replicas >= ids.partitions;
    return in_replicas ? DeviceCounts{ids.replicas, least / ids.replicas} : DeviceCounts{1, least};
}

DeviceGroups participants(const Instruction& collective, const DeviceCounts& counts) {
    DeviceGroups groups = written_groups(collective);
    const GroupMode mode = group_mode(collective);
    const std::int64_t ids = ids_of(mode, counts);
    const std::int64_t copies = counts.devices() / ids;
    if (mode == GroupMode::devices || copies == 1 || !fits(groups, ids)) {
        return groups;
    }
    if (groups.groups.empty()) {
        if (mode == GroupMode::whole_replicas || (mode == GroupMode::replicas && !counts.stated)) {
            return groups;
        }
        std::vector<std::int64_t>& everybody = groups.groups.emplace_back();
        for (std::int64_t id = 0; id < ids; ++id) {
            everybody.push_back(id);
        }
    }
    switch (mode) {
        case GroupMode::replicas:
            return copied(groups, counts.partitions, counts.partitions, 1);
        case GroupMode::partitions:
            return copied(groups, 1, counts.replicas, counts.partitions);
        default:
            return with_all_partitions(groups, counts.partitions);
    }
}

Pairs transfers(const Instruction& permute, const DeviceCounts& counts) {
    const std::optional<std::string_view> text = permute.find("source_target_pairs");
    const Pairs pairs = text ? read_pairs(*text) : Pairs{};
    const GroupMode mode = group_mode(permute);
    const std::int64_t ids = ids_of(mode, counts);
    const std::int64_t copies = counts.devices() / ids;
    if (copies == 1 || most_of(pairs) > ids || static_cast<std::int64_t>(pairs.size()) > ids) {
        return pairs;
    }
    const bool replicas = mode == GroupMode::replicas;
    const std::int64_t stride = replicas ? counts.partitions : 1;
    const std::int64_t step = replicas ? 1 : counts.partitions;
    Pairs all;
    for (std::int64_t copy = 0; copy < copies; ++copy) {
        for (const auto& [from, to] : pairs) {
            all.emplace_back(from * stride + copy * step, to * stride + copy * step);
        }
    }
    return all;
}

bool names_beyond(const Instruction& collective, const DeviceCounts& counts) {
    const std::optional<std::string_view> pairs = collective.find("source_target_pairs");
    return counts.stated &&
           std::max(written_groups(collective).devices(), pairs ? most_of(read_pairs(*pairs)) : 0) >
               ids_of(group_mode(collective), counts);
}

}  // namespace podsim::workloads::hlo
