// Who takes part in a collective: the devices of a program fall into groups of equal size.
//
// Spellings of `replica_groups`, all of them read to the same:
//   {{0,1},{2,3}}                   lists; `{}` is everybody in one group
//   [64,2]<=[2,64]T(1,0)            arange(2 x 64) as [2,64], transposed, cut into 64 groups of 2
//   mesh['x'=2,'y'=4] {'y'}         along named axes, `'x':(1)2` the factor of 2 behind a factor of 1 of axis x, and
//                                   `device_ids=([8,3]T(1,0))` or `(8,3,7,..)` the devices of the mesh in order
// Source: openxla/xla, xla/hlo/parser/hlo_parser.cc and xla/hlo/ir/replica_group_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podsim::workloads::hlo {

/// Device numbers as digits: a member of a group has base + sum of a_i x stride_i, 0 <= a_i < length_i.
struct Digit {
    std::int64_t stride = 1;
    std::int64_t length = 1;
    friend auto operator<=>(const Digit&, const Digit&) = default;
};

/// The lists as they are written; or, where size is not 0, ids as numbers of digits in `order`, the first the slowest, of which each `size`
/// that follow each other are a group. Meshes and iotas of millions of groups are no longer than others so.
struct DeviceGroups {
    std::vector<std::vector<std::int64_t>>
        groups;  ///< with order: empty; both empty: everybody in one
    std::vector<Digit> order{};
    std::int64_t size = 0;

    [[nodiscard]] bool everybody() const { return size == 0 && groups.empty(); }
    /// The largest number in it, and one more; 0 where everybody is in one.
    [[nodiscard]] std::int64_t devices() const;
    /// How many ids are in them.
    [[nodiscard]] std::int64_t ids() const;
    /// Of the first group.
    [[nodiscard]] std::int64_t first_size() const;
    /// All groups one by one.
    [[nodiscard]] std::vector<std::vector<std::int64_t>> lists() const;
    friend bool operator==(const DeviceGroups&, const DeviceGroups&) = default;
};

/// From, to.
using DevicePairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Devices that podsim tells apart: 16 million.
inline constexpr std::int64_t kMostDevices = std::int64_t{1} << 24;
/// Ids that are written out one by one of groups of no regular form.
inline constexpr std::int64_t kMostListed = std::int64_t{1} << 20;

/// Throws sim::InputError.
DeviceGroups read_groups(std::string_view text);
/// `{{0,1},{1,2}}`: from, to. Throws sim::InputError.
DevicePairs read_pairs(std::string_view text);

/// The digits of `groups` among so many devices, by ascending stride, joined where one goes on with another; nothing where the groups are
/// not the translates of one set along digits, or do not have every device once. Groups of one device have none.
std::optional<std::vector<Digit>> digits_of(const DeviceGroups& groups, std::int64_t devices);

/// As XLA writes them: `[64,2]<=[2,64]T(1,0)`. `digits` as digits_of gives them.
std::string iota_text(const std::vector<Digit>& digits, std::int64_t devices);

}  // namespace podsim::workloads::hlo
