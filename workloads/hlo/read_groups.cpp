// Reads groups and pairs of devices from their text (device_groups.h).
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "workloads/hlo/checked.h"
#include "workloads/hlo/device_groups.h"
#include "workloads/hlo/group_places.h"
#include "workloads/hlo/text.h"

namespace podsim::workloads::hlo {
namespace {

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

/// Returns the product of positive numbers. Throws sim::InputError if it is above kMostDevices.
std::int64_t product(Text& text, const Numbers& factors) {
    std::int64_t result = 1;
    for (const std::int64_t factor : factors) {
        if (factor < 1 || !multiply(result, factor, kMostDevices)) {
            throw text.error("groups of less than 1 or more than 16 million devices");
        }
    }
    return result;
}

/// Returns the digits of an arange of shape `dims`, transposed by `order` (`T(1,0)`).
std::vector<Digit> transposed(Text& text, const Numbers& dims, const Numbers& order) {
    product(text, dims);
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
    std::vector<Digit> all;
    for (const std::int64_t axis : order) {
        const auto at = static_cast<std::size_t>(axis);
        all.push_back({strides[at], dims[at]});
    }
    return all;
}

/// Reads `[8,3]T(1,0)`; without a transposition the axes keep their order.
std::vector<Digit> read_arange(Text& text) {
    const Numbers dims = read_numbers(text, "[", "]");
    Numbers order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    if (text.take("T")) {
        order = read_numbers(text, "(", ")");
    }
    return transposed(text, dims, order);
}

DeviceGroups read_iota(Text& text) {
    const Numbers shape = read_numbers(text, "[", "]");
    text.expect("<=");
    std::vector<Digit> order = read_arange(text);
    if (shape.size() != 2 || product(text, shape) != ids_in(order)) {
        throw text.error("groups [G,S] of another number of devices than follows");
    }
    return {{}, std::move(order), shape[1]};
}

std::string quoted(Text& text) {
    text.expect("'");
    std::string name(text.word());
    text.expect("'");
    return name;
}

/// Reads `mesh['x'=2,'y'=4], device_ids=(..) {'x':(1)2}`.
class Mesh {
public:
    explicit Mesh(Text& text) : text_(text) {}

    DeviceGroups read() {
        read_axes();
        if (text_.take(",")) {
            read_devices();
        }
        read_named();
        return groups();
    }

private:
    struct Axis {
        std::string name;
        std::int64_t size = 1;
        std::vector<std::size_t> parts{};  ///< its factors, as indices of `named_`
    };
    /// A factor of an axis along which groups lie: `size` behind a factor of `before`.
    struct Named {
        std::int64_t before = 1;
        std::int64_t size = 1;
        Digit digit{};  ///< of positions in the mesh
    };

    void read_axes() {
        Numbers sizes;
        text_.expect("mesh");
        text_.expect("[");
        while (!text_.take("]")) {
            Axis& axis = axes_.emplace_back();
            axis.name = quoted(text_);
            if (!by_name_.emplace(axis.name, axes_.size() - 1).second) {
                throw text_.error(fmt::format("a mesh with the axis '{}' twice", axis.name));
            }
            text_.expect("=");
            axis.size = text_.number();
            sizes.push_back(axis.size);
            text_.take(",");
        }
        count_ = product(text_, sizes);
    }

    void read_devices() {
        text_.expect("device_ids");
        text_.expect("=");
        text_.expect("(");
        const bool arranged = text_.peek() == '[';
        if (arranged) {
            arranged_ = read_arange(text_);
            text_.expect(")");
        } else {
            while (!text_.take(")")) {
                listed_.push_back(text_.number());
                text_.take(",");
            }
        }
        if ((arranged ? ids_in(arranged_) : static_cast<std::int64_t>(listed_.size())) != count_) {
            throw text_.error("another number of devices than the mesh has");
        }
    }

    void read_named() {
        text_.expect("{");
        while (!text_.take("}")) {
            const auto found = by_name_.find(quoted(text_));
            if (found == by_name_.end()) {
                throw text_.error("groups along an axis that the mesh does not have");
            }
            Axis& axis = axes_[found->second];
            axis.parts.push_back(named_.size());
            Named& one = named_.emplace_back();
            one.size = axis.size;
            if (text_.take(":")) {
                text_.expect("(");
                one.before = text_.number();
                text_.expect(")");
                one.size = text_.number();
            }
            if (one.before < 1 || one.size < 1) {
                throw text_.error("a part of an axis of a size below 1");
            }
            text_.take(",");
        }
    }

    /// Sets the digits of an axis's named factors. The factors between them distinguish groups and
    /// are added to `outside_`.
    void divide(Axis& axis, std::int64_t behind) {
        std::ranges::sort(axis.parts, {}, [&](std::size_t part) { return named_[part].before; });
        std::int64_t done = 1;
        const auto leave = [&](std::int64_t until) {
            if (until % done != 0) {
                throw text_.error("parts of an axis that do not divide it");
            }
            if (until > done) {
                outside_.push_back({axis.size / until * behind, until / done});
            }
            done = until;
        };
        for (const std::size_t number : axis.parts) {
            Named& part = named_[number];
            if (part.before < done || (number != axis.parts.front() && part.before == 1)) {
                throw text_.error(
                    fmt::format("parts of the axis '{}' that have devices in common", axis.name));
            }
            std::int64_t until = part.before;
            if (!multiply(until, part.size, axis.size) || axis.size % until != 0) {
                throw text_.error("a part of an axis that does not divide it");
            }
            leave(part.before);
            part.digit = {axis.size / until * behind, part.size};
            done = until;
        }
        leave(axis.size);
    }

    DeviceGroups groups() {
        std::int64_t behind = count_;
        for (Axis& axis : axes_) {
            behind /= axis.size;
            divide(axis, behind);
        }
        std::vector<Digit> order = outside_;
        std::int64_t size = 1;
        for (const Named& part : named_) {
            order.push_back(part.digit);
            size *= part.size;
        }
        if (!listed_.empty()) {
            Numbers flat = counted(order);
            for (std::int64_t& id : flat) {
                id = listed_[static_cast<std::size_t>(id)];
            }
            return cut_up(flat, size);
        }
        return arranged_.empty() ? DeviceGroups{{}, std::move(order), size} : arranged(order, size);
    }

    /// Returns the groups of devices from those of positions in the mesh.
    DeviceGroups arranged(const std::vector<Digit>& order, std::int64_t size) {
        Places devices = places_of(arranged_);
        Places positions;
        bool divides = true;
        for (const Digit& digit : order) {
            if (digit.length > 1) {
                positions.push_back({digit.stride, digit.stride, digit.length});
                divides = divides && cut_at(devices, digit.stride) &&
                          cut_at(devices, digit.stride * digit.length);
            }
        }
        for (const Place& place : Places(devices)) {
            divides = divides && cut_at(positions, place.at);
        }
        if (!divides) {
            if (count_ > kMostListed) {
                throw text_.error(
                    fmt::format("groups of no regular form of more than {} devices", kMostListed));
            }
            const Numbers ids = counted(arranged_);
            Numbers flat = counted(order);
            for (std::int64_t& id : flat) {
                id = ids[static_cast<std::size_t>(id)];
            }
            return cut_up(flat, size);
        }
        DeviceGroups all{{}, {}, size};
        for (const Place& position : positions) {
            const auto found = std::ranges::find(devices, position.at, &Place::at);
            all.order.push_back({found->stride, position.length});
        }
        return all;
    }

    Text& text_;
    std::vector<Axis> axes_{};
    std::unordered_map<std::string, std::size_t> by_name_{};
    std::int64_t count_ = 1;
    /// Devices by position; if empty, each device equals its position.
    std::vector<Digit> arranged_{};
    /// Devices by position, if they are listed.
    Numbers listed_{};
    std::vector<Named> named_{};
    std::vector<Digit> outside_{};
};

DeviceGroups read_lists(Text& text) {
    DeviceGroups all;
    text.expect("{");
    while (!text.take("}")) {
        all.groups.push_back(read_numbers(text, "{", "}"));
        if (all.groups.back().empty()) {
            throw text.error("a group of no device");
        }
        text.take(",");
    }
    return all;
}

DeviceGroups read_any(Text& text) {
    if (text.peek() == '[') {
        return read_iota(text);
    }
    if (text.at("maximal_mesh")) {
        text.expect("maximal_mesh");
        text.expect("[");
        text.expect("device_id");
        text.expect("=");
        DeviceGroups one{{{text.number()}}};
        text.expect("]");
        return one;
    }
    return text.at("mesh") ? Mesh(text).read() : read_lists(text);
}

/// Returns `the device 3 twice`; empty if no device occurs twice.
std::string twice_in(Numbers ids, const char* what) {
    std::ranges::sort(ids);
    const auto twice = std::ranges::adjacent_find(ids);
    return twice == ids.end() ? std::string() : fmt::format("the {} {} twice", what, *twice);
}

void expect_end(Text& text) {
    if (!text.at_end()) {
        throw text.error("devices, and something behind them");
    }
}

}  // namespace

DeviceGroups read_groups(std::string_view written) {
    Text text(written);
    DeviceGroups all = read_any(text);
    Numbers ids;
    for (const auto& group : all.groups) {
        for (const std::int64_t id : group) {
            if (id < 0 || id >= kMostDevices) {
                throw text.error("a group of devices below 0 or beyond 16 million");
            }
        }
        ids.insert(ids.end(), group.begin(), group.end());
    }
    if (const std::string twice = twice_in(std::move(ids), "device"); !twice.empty()) {
        throw text.error(twice);
    }
    expect_end(text);
    return all;
}

DevicePairs read_pairs(std::string_view written) {
    Text text(written);
    DevicePairs pairs;
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
    expect_end(text);
    return pairs;
}

std::string end_twice(const DevicePairs& pairs) {
    Numbers sources;
    Numbers targets;
    for (const auto& [from, to] : pairs) {
        sources.push_back(from);
        targets.push_back(to);
    }
    const std::string twice = twice_in(std::move(sources), "source");
    return twice.empty() ? twice_in(std::move(targets), "target") : twice;
}

}  // namespace podsim::workloads::hlo
