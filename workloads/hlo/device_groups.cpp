#include "workloads/hlo/device_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "workloads/hlo/text.h"

namespace podsim::workloads::hlo {
namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 24;

using Numbers = std::vector<std::int64_t>;

Numbers read_numbers(Text& text, std::string_view opening, std::string_view closing) {
    Numbers all;
    text.expect(opening);
    while (!text.take(closing)) {
        all.push_back(text.number());
        if (!text.take(",")) {
            text.expect(closing);
            break;
        }
    }
    return all;
}

/// The product, of positive numbers. Throws sim::InputError where it is beyond what podsim takes.
std::int64_t product(Text& text, const Numbers& factors) {
    std::int64_t result = 1;
    for (const std::int64_t factor : factors) {
        if (factor < 1 || result > kMostDevices / factor) {
            throw text.error("groups of less than 1 or more than 16 million devices");
        }
        result *= factor;
    }
    return result;
}

/// arange as `dims`, transposed by `order` (`T(1,0)`), flat.
Numbers transposed(Text& text, const Numbers& dims, const Numbers& order) {
    const std::int64_t count = product(text, dims);
    std::vector<bool> seen(dims.size());
    for (const std::int64_t axis : order) {
        if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size()) ||
            seen[static_cast<std::size_t>(axis)]) {
            throw text.error("a transposition that is none");
        }
        seen[static_cast<std::size_t>(axis)] = true;
    }
    if (order.size() != dims.size()) {
        throw text.error("a transposition of fewer axes than there are");
    }
    Numbers strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * dims[i];
    }
    Numbers all{0};
    all.reserve(static_cast<std::size_t>(count));
    for (const std::int64_t axis : order) {
        const auto at = static_cast<std::size_t>(axis);
        Numbers next;
        next.reserve(all.size() * static_cast<std::size_t>(dims[at]));
        for (const std::int64_t base : all) {
            for (std::int64_t i = 0; i < dims[at]; ++i) {
                next.push_back(base + i * strides[at]);
            }
        }
        all = std::move(next);
    }
    return all;
}

Numbers identity(std::size_t count) {
    Numbers order(count);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

DeviceGroups cut(const Numbers& flat, std::int64_t size) {
    DeviceGroups all;
    for (std::size_t i = 0; i < flat.size(); i += static_cast<std::size_t>(size)) {
        all.groups.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i),
                                flat.begin() + static_cast<std::ptrdiff_t>(i) + size);
    }
    return all;
}

DeviceGroups read_iota(Text& text) {
    const Numbers shape = read_numbers(text, "[", "]");
    text.expect("<=");
    const Numbers dims = read_numbers(text, "[", "]");
    Numbers order = identity(dims.size());
    if (text.take("T")) {
        order = read_numbers(text, "(", ")");
    }
    if (shape.size() != 2 || product(text, shape) != product(text, dims)) {
        throw text.error("groups [G,S] of another number of devices than follows");
    }
    return cut(transposed(text, dims, order), shape[1]);
}

std::string quoted(Text& text) {
    text.expect("'");
    std::string name(text.word());
    text.expect("'");
    return name;
}

DeviceGroups read_mesh(Text& text) {
    struct Axis {
        std::string name;
        std::int64_t size = 1;
    };
    std::vector<Axis> axes;
    Numbers dims;
    text.expect("mesh");
    text.expect("[");
    while (!text.take("]")) {
        Axis& axis = axes.emplace_back();
        axis.name = quoted(text);
        text.expect("=");
        axis.size = text.number();
        dims.push_back(axis.size);
        text.take(",");
    }
    const std::int64_t count = product(text, dims);
    Numbers ids = identity(static_cast<std::size_t>(count));
    if (text.take(",")) {
        text.expect("device_ids");
        text.expect("=");
        text.expect("(");
        if (text.peek() == '[') {
            const Numbers of = read_numbers(text, "[", "]");
            Numbers order = identity(of.size());
            if (text.take("T")) {
                order = read_numbers(text, "(", ")");
            }
            ids = transposed(text, of, order);
            text.expect(")");
        } else {
            ids.clear();
            while (!text.take(")")) {
                ids.push_back(text.number());
                text.take(",");
            }
        }
        if (static_cast<std::int64_t>(ids.size()) != count) {
            throw text.error("another number of devices than the mesh has");
        }
    }
    // Every axis is one dimension, or three where a part of it is named: what is before it, it, what is behind it.
    struct Named {
        std::string axis;
        std::int64_t before = 1;
        std::int64_t size = 0;  ///< 0: the whole axis
    };
    std::vector<Named> named;
    text.expect("{");
    while (!text.take("}")) {
        Named& one = named.emplace_back();
        one.axis = quoted(text);
        if (text.take(":")) {
            text.expect("(");
            one.before = text.number();
            text.expect(")");
            one.size = text.number();
        }
        text.take(",");
    }
    Numbers fine;
    std::vector<std::pair<std::size_t, std::size_t>> group_dims;  // of `named`, of `fine`
    std::vector<bool> taken(named.size());
    Numbers outside;
    for (const Axis& axis : axes) {
        std::int64_t done = 1;
        while (done < axis.size) {
            std::size_t next = named.size();
            for (std::size_t i = 0; i < named.size(); ++i) {
                if (named[i].axis == axis.name && !taken[i] && named[i].before >= done &&
                    (next == named.size() || named[i].before < named[next].before)) {
                    next = i;
                }
            }
            const std::int64_t until = next == named.size() ? axis.size : named[next].before;
            if (until % done != 0) {
                throw text.error("parts of an axis that do not divide it");
            }
            if (until > done) {
                outside.push_back(static_cast<std::int64_t>(fine.size()));
                fine.push_back(until / done);
                done = until;
            }
            if (next != named.size()) {
                const std::int64_t size =
                    named[next].size > 0 ? named[next].size : axis.size / done;
                if (size < 1 || axis.size % (done * size) != 0) {
                    throw text.error("a part of an axis that does not divide it");
                }
                taken[next] = true;
                group_dims.emplace_back(next, fine.size());
                fine.push_back(size);
                done *= size;
            }
        }
        for (std::size_t i = 0; i < named.size(); ++i) {
            taken[i] = taken[i] || named[i].axis == axis.name;  // of an axis of one device
        }
    }
    if (std::ranges::find(taken, false) != taken.end()) {
        throw text.error("groups along an axis that the mesh does not have");
    }
    std::ranges::sort(group_dims);
    Numbers order = outside;
    std::int64_t size = 1;
    for (const auto& [unused, dim] : group_dims) {
        order.push_back(static_cast<std::int64_t>(dim));
        size *= fine[dim];
    }
    Numbers flat = transposed(text, fine, order);
    for (std::int64_t& id : flat) {
        id = ids[static_cast<std::size_t>(id)];
    }
    return cut(flat, size);
}

}  // namespace

std::int64_t DeviceGroups::devices() const {
    std::int64_t most = -1;
    for (const auto& group : groups) {
        for (const std::int64_t id : group) {
            most = std::max(most, id);
        }
    }
    return most + 1;
}

DeviceGroups read_groups(std::string_view written) {
    Text text(written);
    if (text.peek() == '[') {
        return read_iota(text);
    }
    if (text.at("maximal_mesh")) {
        text.expect("maximal_mesh");
        text.expect("[");
        text.expect("device_id");
        text.expect("=");
        return {{{text.number()}}};
    }
    if (text.at("mesh")) {
        return read_mesh(text);
    }
    DeviceGroups all;
    text.expect("{");
    while (!text.take("}")) {
        all.groups.push_back(read_numbers(text, "{", "}"));
        for (const std::int64_t id : all.groups.back()) {
            if (id < 0 || id >= kMostDevices) {
                throw text.error("a group of devices below 0 or beyond 16 million");
            }
        }
        text.take(",");
    }
    return all;
}

std::vector<std::pair<std::int64_t, std::int64_t>> read_pairs(std::string_view written) {
    Text text(written);
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    text.expect("{");
    while (!text.take("}")) {
        const Numbers pair = read_numbers(text, "{", "}");
        if (pair.size() != 2 || pair[0] < 0 || pair[1] < 0 || pair[0] >= kMostDevices ||
            pair[1] >= kMostDevices) {
            throw text.error("a pair of devices is {from,to}");
        }
        pairs.emplace_back(pair[0], pair[1]);
        text.take(",");
    }
    return pairs;
}

std::optional<std::vector<Digit>> digits_of(const DeviceGroups& all, std::int64_t devices) {
    if (all.groups.empty()) {
        return devices > 1 ? std::vector<Digit>{{1, devices}} : std::vector<Digit>{};
    }
    Numbers first;
    std::vector<bool> seen(static_cast<std::size_t>(devices));
    std::int64_t count = 0;
    std::vector<Numbers> sorted = all.groups;
    for (Numbers& group : sorted) {
        std::ranges::sort(group);
        for (const std::int64_t id : group) {
            if (id < 0 || id >= devices || seen[static_cast<std::size_t>(id)]) {
                return std::nullopt;
            }
            seen[static_cast<std::size_t>(id)] = true;
            ++count;
        }
        if (!group.empty() && group.front() == 0) {
            first = group;
        }
    }
    if (count != devices || first.empty()) {
        return std::nullopt;
    }
    // Greedily from the smallest stride: the set that the digits span must be the group of device 0.
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
