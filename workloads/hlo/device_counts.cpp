#include "workloads/hlo/device_counts.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/hlo/checked.h"

namespace podsim::workloads::hlo {
namespace {

/// Returns a count of the header; nothing if it is not stated.
std::optional<std::int64_t> stated_in(const Module& module, std::string_view key) {
    const std::optional<std::string_view> text = module.find(key);
    if (!text) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const char* const end = text->data() + text->size();
    const auto [behind, failure] = std::from_chars(text->data(), end, value);
    if (failure != std::errc() || behind != end || value < 1 || value > kMostDevices) {
        throw sim::InputError(fmt::format("{}={:.24}", key, *text),
                              "a count is a whole number of 1 to 16 million",
                              {module.file, module.line, 1});
    }
    return value;
}

/// Returns the number of ids that exist of the kind that a group names.
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

std::int64_t most_of(const DevicePairs& pairs) {
    std::int64_t most = -1;
    for (const auto& [from, to] : pairs) {
        most = std::max({most, from, to});
    }
    return most + 1;
}

const Members& members_of(const Module& module, const Instruction& collective) {
    static const Members kNone{};
    return collective.members == kNothing ? kNone : module.members[collective.members];
}

Members read_written(std::string_view groups, std::string_view pairs) {
    Members read;
    if (!groups.empty()) {
        read.groups = read_groups(groups);
    }
    if (!pairs.empty()) {
        read.pairs = read_pairs(pairs);
    }
    read.named = std::max(read.groups.devices(), most_of(read.pairs));
    return read;
}

/// Converts ids into devices: consecutive ids are `stride` devices apart, and each stands for
/// `inner` consecutive devices.
void spread(Participants& found, std::int64_t stride, std::int64_t inner) {
    found.size *= inner;
    found.base *= stride;
    found.stride = stride;
    found.inner = inner;
    if (found.digits) {
        for (Digit& digit : *found.digits) {
            digit.stride *= stride;
        }
        if (inner > 1) {
            const bool goes_on = !found.digits->empty() && found.digits->front().stride == inner;
            if (goes_on) {
                found.digits->front() = {1, found.digits->front().length * inner};
            } else {
                found.digits->insert(found.digits->begin(), {1, inner});
            }
        }
    }
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

void read_members(Module& module) {
    module.replicas = stated_in(module, "replica_count");
    module.partitions = stated_in(module, "num_partitions");
    if (std::int64_t all = module.replicas.value_or(1);
        !multiply(all, module.partitions.value_or(1), kMostDevices)) {
        throw sim::InputError(fmt::format("{} replicas of {} partitions are more than 16 million "
                                          "devices",
                                          *module.replicas, *module.partitions),
                              {}, {module.file, module.line, 1});
    }
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> known;
    std::vector<std::string> twice;  // by number in `members`
    std::int64_t listed = 0;
    for (Computation& computation : module.computations) {
        for (Instruction& each : computation.instructions) {
            const std::string_view groups = each.find("replica_groups").value_or("");
            const std::string_view pairs = each.find("source_target_pairs").value_or("");
            if (groups.empty() && pairs.empty()) {
                continue;
            }
            const auto [entry, added] = known.try_emplace(
                {groups, pairs}, static_cast<std::uint32_t>(module.members.size()));
            if (added) {
                try {
                    module.members.push_back(read_written(groups, pairs));
                    twice.push_back(end_twice(module.members.back().pairs));
                } catch (const sim::InputError& error) {
                    throw module.error(each, error.problem(), error.remedy());
                }
                const DeviceGroups& read = module.members.back().groups;
                const auto letters = static_cast<std::int64_t>(groups.size());
                listed += read.size == 0 && read.ids() > letters ? read.ids() : 0;
                if (listed > kMostListed) {
                    throw module.error(each, fmt::format("groups of no regular form, of more than "
                                                         "{} devices with those before",
                                                         kMostListed));
                }
            }
            each.members = entry->second;
            if (!twice[each.members].empty() && !each.find("slice_sizes")) {
                throw module.error(each, twice[each.members]);
            }
            const std::int64_t named = module.members[each.members].named;
            const GroupMode mode = group_mode(each);
            std::int64_t& most = mode == GroupMode::devices      ? module.ids.devices
                                 : mode == GroupMode::partitions ? module.ids.partitions
                                                                 : module.ids.replicas;
            most = std::max(most, named);
        }
    }
}

DeviceCounts device_counts(const Module& module, std::int64_t devices) {
    const NamedIds& ids = module.ids;
    const std::int64_t least =
        std::max({std::int64_t{1}, ids.replicas, ids.partitions, ids.devices, devices});
    if (module.replicas || module.partitions) {
        const DeviceCounts counts{module.replicas.value_or(1), module.partitions.value_or(1), true};
        return counts.devices() >= least ? counts : DeviceCounts{1, least, true};
    }
    const bool in_replicas =
        ids.replicas > 1 && least % ids.replicas == 0 && least / ids.replicas >= ids.partitions;
    return in_replicas ? DeviceCounts{ids.replicas, least / ids.replicas} : DeviceCounts{1, least};
}

std::vector<std::int64_t> Participants::first() const {
    std::vector<std::int64_t> all;
    if (!digits) {
        for (const std::int64_t id : listed) {
            for (std::int64_t i = 0; i < inner; ++i) {
                all.push_back(id * stride + i);
            }
        }
        return all;
    }
    all = {base};
    for (const Digit& digit : *digits) {
        const std::size_t before = all.size();
        for (std::int64_t i = 1; i < digit.length; ++i) {
            for (std::size_t at = 0; at < before; ++at) {
                all.push_back(all[at] + i * digit.stride);
            }
        }
    }
    return all;
}

Participants participants(const Module& module, const Instruction& collective,
                          const DeviceCounts& counts) {
    const DeviceGroups& groups = members_of(module, collective).groups;
    const GroupMode mode = group_mode(collective);
    const std::int64_t ids = ids_of(mode, counts);
    const bool in_devices = mode == GroupMode::devices || ids == counts.devices() ||
                            groups.devices() > ids || groups.ids() > ids;
    Participants found;
    found.everybody = groups.everybody() && (in_devices || mode == GroupMode::whole_replicas ||
                                             (mode == GroupMode::replicas && !counts.stated));
    const std::int64_t among = in_devices || found.everybody ? counts.devices() : ids;
    found.digits = digits_of(groups, among);
    found.size = groups.everybody() ? among : groups.first_size();
    if (!groups.groups.empty()) {
        found.base = std::ranges::min(groups.groups.front());
        found.listed = found.digits ? std::vector<std::int64_t>{} : groups.groups.front();
    }
    if (in_devices || found.everybody) {
        return found;
    }
    switch (mode) {
        case GroupMode::replicas:
            spread(found, counts.partitions, 1);
            break;
        case GroupMode::partitions:
            break;
        default:
            spread(found, counts.partitions, counts.partitions);
    }
    return found;
}

DevicePairs transfers(const Module& module, const Instruction& permute,
                      const DeviceCounts& counts) {
    const DevicePairs& pairs = members_of(module, permute).pairs;
    const GroupMode mode = group_mode(permute);
    const std::int64_t ids = ids_of(mode, counts);
    const std::int64_t copies = counts.devices() / ids;
    if (copies == 1 || most_of(pairs) > ids || static_cast<std::int64_t>(pairs.size()) > ids) {
        return pairs;
    }
    const bool replicas = mode == GroupMode::replicas;
    const std::int64_t stride = replicas ? counts.partitions : 1;
    const std::int64_t step = replicas ? 1 : counts.partitions;
    DevicePairs all;
    for (std::int64_t copy = 0; copy < copies; ++copy) {
        for (const auto& [from, to] : pairs) {
            all.emplace_back(from * stride + copy * step, to * stride + copy * step);
        }
    }
    return all;
}

bool names_beyond(const Module& module, const Instruction& collective, const DeviceCounts& counts) {
    return counts.stated &&
           members_of(module, collective).named > ids_of(group_mode(collective), counts);
}

bool moves(const Module& module, const Instruction& permute) {
    return std::ranges::any_of(members_of(module, permute).pairs,
                               [](const auto& pair) { return pair.first != pair.second; });
}

}  // namespace podsim::workloads::hlo
