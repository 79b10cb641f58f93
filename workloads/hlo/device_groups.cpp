#include "workloads/hlo/device_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "workloads/hlo/group_places.h"

namespace podsim::workloads::hlo {
namespace {

using Numbers = std::vector<std::int64_t>;

/// Sorts digits by ascending stride and joins those that continue each other.
std::vector<Digit> joined(std::vector<Digit> digits) {
    std::ranges::sort(digits);
    std::vector<Digit> all;
    for (const Digit& digit : digits) {
        if (digit.length == 1) {
            continue;
        }
        if (!all.empty() && all.back().stride * all.back().length == digit.stride) {
            all.back().length *= digit.length;
        } else {
            all.push_back(digit);
        }
    }
    return all;
}

/// Returns nothing if a group ends within a digit that it does not divide: it is then no translate
/// of the others.
std::optional<std::vector<Digit>> digits_in_order(const DeviceGroups& all) {
    Places places = places_of(all.order);
    if (!cut_at(places, all.size)) {
        return std::nullopt;
    }
    std::vector<Digit> digits;
    for (const Place& place : places) {
        if (place.at < all.size) {
            digits.push_back({place.stride, place.length});
        }
    }
    return joined(std::move(digits));
}

}  // namespace

std::int64_t DeviceGroups::devices() const {
    if (size > 0) {
        return ids();
    }
    std::int64_t most = -1;
    for (const auto& group : groups) {
        for (const std::int64_t id : group) {
            most = std::max(most, id);
        }
    }
    return most + 1;
}

std::int64_t DeviceGroups::ids() const {
    if (size > 0) {
        return ids_in(order);
    }
    std::int64_t all = 0;
    for (const auto& group : groups) {
        all += static_cast<std::int64_t>(group.size());
    }
    return all;
}

std::int64_t DeviceGroups::first_size() const {
    return groups.empty() ? size : static_cast<std::int64_t>(groups.front().size());
}

std::vector<std::vector<std::int64_t>> DeviceGroups::lists() const {
    return size > 0 ? cut_up(counted(order), size).groups : groups;
}

std::optional<std::vector<Digit>> digits_of(const DeviceGroups& all, std::int64_t devices) {
    if (all.everybody()) {
        return devices > 1 ? std::vector<Digit>{{1, devices}} : std::vector<Digit>{};
    }
    if (all.ids() != devices) {
        return std::nullopt;
    }
    if (all.size > 0) {
        return digits_in_order(all);
    }
    Numbers first;
    std::vector<bool> seen(static_cast<std::size_t>(devices));
    std::vector<Numbers> sorted = all.groups;
    for (Numbers& group : sorted) {
        std::ranges::sort(group);
        for (const std::int64_t id : group) {
            if (id < 0 || id >= devices || seen[static_cast<std::size_t>(id)]) {
                return std::nullopt;
            }
            seen[static_cast<std::size_t>(id)] = true;
        }
        if (!group.empty() && group.front() == 0) {
            first = group;
        }
    }
    if (first.empty()) {
        return std::nullopt;
    }
    // Digits are found greedily from the smallest stride. The set that they span must be the group
    // of device 0.
    std::vector<Digit> digits;
    std::int64_t spanned = 1;
    while (spanned < static_cast<std::int64_t>(first.size())) {
        const std::int64_t stride = first[static_cast<std::size_t>(spanned)];
        std::int64_t length = 1;
        while (length * spanned < static_cast<std::int64_t>(first.size()) &&
               first[static_cast<std::size_t>(length * spanned)] == length * stride) {
            ++length;
        }
        digits.push_back({stride, length});
        spanned *= length;
    }
    Numbers set{0};
    std::int64_t reached = 1;
    for (const Digit& digit : digits) {
        if (digit.stride % reached != 0) {
            return std::nullopt;
        }
        reached = digit.stride * digit.length;
        Numbers next;
        for (std::int64_t i = 0; i < digit.length; ++i) {
            for (const std::int64_t id : set) {
                next.push_back(id + i * digit.stride);
            }
        }
        set = std::move(next);
    }
    if (devices % reached != 0 || set != first) {
        return std::nullopt;
    }
    for (const Numbers& group : sorted) {
        if (group.size() != set.size()) {
            return std::nullopt;
        }
        for (const Digit& digit : digits) {
            if (group.front() / digit.stride % digit.length != 0) {
                return std::nullopt;
            }
        }
        for (std::size_t i = 0; i < set.size(); ++i) {
            if (group[i] != group.front() + set[i]) {
                return std::nullopt;
            }
        }
    }
    return digits;
}

std::string iota_text(const std::vector<Digit>& digits, std::int64_t devices) {
    Numbers dims;  // minor to major
    std::vector<bool> of_group;
    std::int64_t at = 1;
    std::int64_t size = 1;
    for (const Digit& digit : digits) {
        if (digit.stride > at) {
            dims.push_back(digit.stride / at);
            of_group.push_back(false);
        }
        dims.push_back(digit.length);
        of_group.push_back(true);
        at = digit.stride * digit.length;
        size *= digit.length;
    }
    if (devices > at) {
        dims.push_back(devices / at);
        of_group.push_back(false);
    }
    const std::string shape = fmt::format("[{},{}]", devices / size, size);
    if (digits.empty() || (digits.size() == 1 && digits.front().stride == 1)) {
        return fmt::format("{}<=[{}]", shape, devices);
    }
    Numbers order;
    for (const bool inside : {false, true}) {
        for (std::size_t i = dims.size(); i-- > 0;) {
            if (of_group[i] == inside) {
                order.push_back(static_cast<std::int64_t>(dims.size() - 1 - i));
            }
        }
    }
    std::ranges::reverse(dims);
    return fmt::format("{}<=[{}]T({})", shape, fmt::join(dims, ","), fmt::join(order, ","));
}

}  // namespace podsim::workloads::hlo
