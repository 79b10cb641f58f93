#include "workloads/hlo/device_axes.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <set>

#include "workloads/hlo/checked.h"
#include "workloads/hlo/doing.h"

namespace podsim::workloads::hlo {
namespace {

std::int64_t digit_at(std::int64_t device, const Digit& digit) {
    return device / digit.stride % digit.length;
}

/// Returns the pairs as a shift along `digits`; nothing if a pair differs outside of these, or if
/// pairs shift by different numbers of ranks.
std::optional<RankShift> as_shift(const DevicePairs& pairs, const std::vector<Digit>& digits,
                                  std::int64_t devices, double& steps) {
    std::int64_t size = 1;
    for (const Digit& digit : digits) {
        size *= digit.length;
    }
    const auto rank = [&](std::int64_t device) {
        std::int64_t at = 0;
        for (std::size_t i = digits.size(); i-- > 0;) {
            at = at * digits[i].length + digit_at(device, digits[i]);
        }
        return at;
    };
    const auto outside = [&](std::int64_t device) {
        for (const Digit& digit : digits) {
            device -= digit_at(device, digit) * digit.stride;
        }
        return device;
    };
    std::optional<std::int64_t> shift;
    for (const auto& [from, to] : pairs) {
        ++steps;
        const std::int64_t by = ((rank(to) - rank(from)) % size + size) % size;
        if (outside(from) != outside(to) || (shift && *shift != by)) {
            return std::nullopt;
        }
        shift = by;
    }
    const bool closed = static_cast<std::int64_t>(pairs.size()) == devices;
    return RankShift{digits, shift.value_or(0), closed};
}

/// Finds the axis along which pairs shift, from the numbers alone: a shift by k along n ranks of
/// stride s moves devices by k s, and the last ones back by (n - k) s.
std::optional<RankShift> shift_in(const DevicePairs& pairs, std::int64_t devices, double& steps) {
    if (pairs.empty()) {
        return RankShift{};
    }
    std::set<std::int64_t> forward;
    std::set<std::int64_t> backward;
    for (const auto& [from, to] : pairs) {
        (to >= from ? forward : backward).insert(to >= from ? to - from : from - to);
    }
    forward.erase(0);
    if (forward.empty() && backward.empty()) {
        return RankShift{};
    }
    if (forward.size() > 1 || backward.size() > 1) {
        return std::nullopt;
    }
    std::vector<std::int64_t> divisors;  // ascending
    for (std::int64_t each = 1; each <= devices; ++each) {
        if (devices % each == 0) {
            divisors.push_back(each);
        }
    }
    steps += static_cast<double>(devices);
    const std::int64_t up = forward.empty() ? 0 : *forward.begin();
    const std::int64_t down = backward.empty() ? 0 : *backward.begin();
    std::vector<std::int64_t> lengths;  // of the ring in device numbers: length x stride
    if (up > 0 && down > 0) {
        lengths = {up + down};
    } else {
        std::ranges::copy_if(divisors, std::back_inserter(lengths),
                             [&](std::int64_t ring) { return ring > up + down; });
    }
    for (const std::int64_t ring : lengths) {
        if (devices % ring != 0) {
            continue;
        }
        for (auto at = divisors.rbegin(); at != divisors.rend(); ++at) {
            const std::int64_t stride = *at;
            ++steps;
            if (stride >= ring || ring % stride != 0 || (up + down) % stride != 0 ||
                up % stride != 0) {
                continue;
            }
            if (auto found = as_shift(pairs, {{stride, ring / stride}}, devices, steps)) {
                return found;
            }
        }
    }
    return std::nullopt;
}

/// Adds the strides at which axes must be cut: the beginnings and ends of digits, as products of
/// the sizes of the axes behind.
void add_cuts(const std::vector<Digit>& digits, std::set<std::int64_t>& cuts) {
    for (const Digit& digit : digits) {
        cuts.insert(digit.stride);
        cuts.insert(digit.stride * digit.length);
    }
}

}  // namespace

DeviceAxes::DeviceAxes(const Module& module, std::int64_t devices,
                       std::vector<std::pair<std::string, std::int64_t>> axes)
    : devices_(devices), counts_(device_counts(module, devices)) {
    if (axes.empty()) {
        axes.emplace_back("devices", devices);
    }
    std::int64_t product = 1;
    for (const auto& [name, size] : axes) {
        if (!multiply(product, size)) {
            throw sim::InputError(
                fmt::format("the mesh has 2^63 devices or more, the module runs on {}", devices));
        }
    }
    if (product != devices) {
        throw sim::InputError(
            fmt::format("the mesh has {} devices, the module runs on {}", product, devices));
    }
    cut(module, std::move(axes));
}

void DeviceAxes::cut(const Module& module, std::vector<std::pair<std::string, std::int64_t>> axes) {
    std::set<std::int64_t> cuts{1, devices_};
    const Instruction* last = nullptr;
    Budget budget(module);
    std::map<std::pair<std::uint32_t, GroupMode>, RankShift> known;
    for (const Computation& computation : module.computations) {
        for (const Instruction& each : computation.instructions) {
            if (!is_collective_opcode(base_opcode(each)) || is_done(each)) {
                continue;
            }
            const std::size_t before = cuts.size();
            if (each.find("source_target_pairs")) {
                const std::pair key(each.members, group_mode(each));
                auto found = known.find(key);
                if (found == known.end()) {
                    found = known.emplace(key, read_shift(module, each, budget)).first;
                }
                shifts_[&each] = found->second;
                add_cuts(found->second.digits, cuts);
            } else {
                add_cuts(group_of(module, each), cuts);
            }
            last = cuts.size() == before ? last : &each;
        }
    }
    std::int64_t stride = devices_;
    for (const auto& [name, size] : axes) {
        stride /= size;
        cuts.insert(stride);
    }
    for (auto at = cuts.begin(); std::next(at) != cuts.end(); ++at) {
        if (*std::next(at) % *at != 0) {
            const std::string problem = fmt::format(
                "groups do not lie along the axes of one mesh: some begin at a stride of {} "
                "devices, others at {}",
                *at, *std::next(at));
            throw last != nullptr ? module.error(*last, problem) : sim::InputError(problem);
        }
    }
    std::int64_t end = devices_;
    for (const auto& [name, size] : axes) {
        const std::int64_t begin = end / size;
        std::vector<std::size_t>& parts = parts_.emplace_back();
        std::vector<std::int64_t> within;  // cuts in the axis, slowest first
        for (auto at = cuts.rbegin(); at != cuts.rend(); ++at) {
            if (*at >= begin && *at < end) {
                within.push_back(*at);
            }
        }
        std::int64_t above = end;
        for (const std::int64_t at : within) {
            const std::int64_t length = above / at;
            const std::int64_t behind = at / begin;  // members of the axis's faster factors
            std::string part = name;
            if (within.size() > 1) {
                part += behind > 1 ? fmt::format("/{}", behind) : std::string();
                part += length * behind < size ? fmt::format("%{}", length) : std::string();
            }
            parts.push_back(axes_.size());
            axes_.push_back({part, length, at});
            above = at;
        }
        if (within.empty()) {
            parts.push_back(axes_.size());
            axes_.push_back({name, 1, begin});
        }
        end = begin;
    }
}

std::vector<std::string> DeviceAxes::names_of(const std::vector<Digit>& digits) const {
    std::vector<std::string> names;
    for (const DeviceAxis& axis : axes_) {
        const bool in = std::ranges::any_of(digits, [&](const Digit& digit) {
            return axis.size > 1 && axis.stride >= digit.stride &&
                   axis.stride * axis.size <= digit.stride * digit.length;
        });
        if (in) {
            names.push_back(axis.name);
        }
    }
    return names;
}

std::vector<Digit> DeviceAxes::group_of(const Module& module, const Instruction& at) const {
    if (auto found = participants(module, at, counts_);
        found.digits && counts_.devices() == devices_) {
        return *std::move(found.digits);
    }
    throw module.error(at,
                       fmt::format("its groups are not regular among {} devices: {:.60}", devices_,
                                   at.find("replica_groups").value_or("")),
                       "podsim plays groups along the axes of a mesh");
}

RankShift DeviceAxes::shift_of(const Module& module, const Instruction& at) const {
    const auto found = shifts_.find(&at);
    Budget budget(module);
    return found != shifts_.end() ? found->second : read_shift(module, at, budget);
}

RankShift DeviceAxes::read_shift(const Module& module, const Instruction& at,
                                 Budget& budget) const {
    const DevicePairs pairs = transfers(module, at, counts_);
    double steps = static_cast<double>(pairs.size());
    const std::optional<RankShift> shift = shift_in(pairs, devices_, steps);
    budget.spend(at, steps);
    if (shift) {
        return *shift;
    }
    throw module.error(at,
                       fmt::format("its pairs are no shift along an axis of a mesh: {:.60}",
                                   at.find("source_target_pairs").value_or("")),
                       "podsim plays permutes that shift along an axis");
}

}  // namespace podsim::workloads::hlo
