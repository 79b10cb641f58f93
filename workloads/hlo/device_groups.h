// The members of a collective: the devices of a program, in groups of equal size.
//
// All spellings of `replica_groups` are read to the same form:
//   {{0,1},{2,3}}                   lists; `{}` is one group of all devices
//   [64,2]<=[2,64]T(1,0)            arange(2 x 64) as [2,64], transposed, cut into 64 groups of 2
//   mesh['x'=2,'y'=4] {'y'}         along named axes; `'x':(1)2` is the factor of 2 behind a factor
//                                   of 1 of axis x; `device_ids=([8,3]T(1,0))` or `(8,3,7,..)`
//                                   are the devices of the mesh in order
// Source: openxla/xla, xla/hlo/parser/hlo_parser.cc and xla/hlo/ir/replica_group_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podsim::workloads::hlo {

/// A digit of device numbers: a member of a group has the number base + sum of a_i x stride_i, 0 <=
/// a_i < length_i.
struct Digit {
    std::int64_t stride = 1;
    std::int64_t length = 1;
    friend auto operator<=>(const Digit&, const Digit&) = default;
};

/// Groups of devices: lists as written; or, if `size` is not 0, ids counted by the digits of
/// `order` (the first is the slowest), where every `size` consecutive ids are a group. Meshes and
/// iotas of millions of groups therefore take no more memory than others.
struct DeviceGroups {
    /// Lists of ids; empty if `order` is used. If both are empty, all devices are in one group.
    std::vector<std::vector<std::int64_t>> groups;
    std::vector<Digit> order{};
    std::int64_t size = 0;

    [[nodiscard]] bool everybody() const { return size == 0 && groups.empty(); }
    /// Returns one more than the largest id; 0 if all devices are in one group.
    [[nodiscard]] std::int64_t devices() const;
    /// Returns the number of ids in all groups.
    [[nodiscard]] std::int64_t ids() const;
    /// Returns the size of the first group.
    [[nodiscard]] std::int64_t first_size() const;
    /// Returns all groups as lists of ids.
    [[nodiscard]] std::vector<std::vector<std::int64_t>> lists() const;
    friend bool operator==(const DeviceGroups&, const DeviceGroups&) = default;
};

/// Pairs of source and target.
using DevicePairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Limit of the devices that podsim distinguishes: 16 million.
inline constexpr std::int64_t kMostDevices = std::int64_t{1} << 24;
/// Limit of the ids that are listed one by one, for groups without a regular form.
inline constexpr std::int64_t kMostListed = std::int64_t{1} << 20;

/// Reads `replica_groups` in any spelling. Throws sim::InputError.
DeviceGroups read_groups(std::string_view text);
/// Reads `{{0,1},{1,2}}` as pairs of source and target. Throws sim::InputError.
DevicePairs read_pairs(std::string_view text);
/// Returns `the source 3 twice`, which only a permute of several slices may have; empty if each
/// device sends and receives at most once.
std::string end_twice(const DevicePairs& pairs);

/// Returns the digits of `groups` among `devices`, by ascending stride, joined where one continues
/// another; groups of one device have none. Returns nothing if the groups are not translates of one
/// set along digits, or do not contain every device exactly once.
std::optional<std::vector<Digit>> digits_of(const DeviceGroups& groups, std::int64_t devices);

/// Writes `digits` (from digits_of) in XLA's notation: `[64,2]<=[2,64]T(1,0)`.
std::string iota_text(const std::vector<Digit>& digits, std::int64_t devices);

}  // namespace podsim::workloads::hlo
