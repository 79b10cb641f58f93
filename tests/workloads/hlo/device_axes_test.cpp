// Devices as a mesh along whose axes every group lies, and permutes as shifts.
#include "workloads/hlo/device_axes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

#include "sim/base/error.h"
#include "workloads/hlo/read_module.h"

namespace podsim::workloads::hlo {
namespace {

/// Returns a module of AllReduces over these groups, and of permutes by these pairs.
Module with(const std::vector<std::string>& groups, const std::vector<std::string>& pairs = {}) {
    std::string text = "ENTRY %m (a: f32[8]) -> f32[8] {\n %a = f32[8] parameter(0)\n";
    for (std::size_t i = 0; i < groups.size(); ++i) {
        text += fmt::format(" %r{} = f32[8] all-reduce(%a), replica_groups={}\n", i, groups[i]);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        text += fmt::format(" %p{} = f32[8] collective-permute(%a), source_target_pairs={}\n", i,
                            pairs[i]);
    }
    return read_module(text + "}\n", "m.txt");
}

std::string axes_text(const DeviceAxes& axes) {
    std::string text;
    for (const DeviceAxis& axis : axes.axes()) {
        text +=
            fmt::format("{}{}:{}@{}", text.empty() ? "" : " ", axis.name, axis.size, axis.stride);
    }
    return text;
}

TEST(HloDeviceAxes, AreCutWhereGroupsNeedIt) {
    EXPECT_EQ(axes_text(DeviceAxes(with({"[1,8]<=[8]"}), 8, {})), "devices:8@1");
    EXPECT_EQ(axes_text(DeviceAxes(with({"[4,2]<=[2,4]T(1,0)"}), 8, {})),
              "devices/4:2@4 devices%4:4@1");
    EXPECT_EQ(axes_text(DeviceAxes(with({"[4,2]<=[2,2,2]T(0,2,1)"}), 8, {})),
              "devices/4:2@4 devices/2%2:2@2 devices%2:2@1");
    EXPECT_EQ(axes_text(DeviceAxes(with({"[4,2]<=[8]"}), 8, {{"data", 2}, {"fsdp", 4}})),
              "data:2@4 fsdp/2:2@2 fsdp%2:2@1");
    EXPECT_EQ(
        axes_text(DeviceAxes(with({"[2,4]<=[8]"}), 8, {{"data", 2}, {"one", 1}, {"fsdp", 4}})),
        "data:2@4 one:1@4 fsdp:4@1");
}

TEST(HloDeviceAxes, NamesOfGroups) {
    const Module module = with({"[4,2]<=[2,4]T(1,0)", "[2,4]<=[8]", "[1,8]<=[8]"});
    const DeviceAxes axes(module, 8, {});
    const auto names = [&](const char* groups) {
        const Module other = with({groups});
        return fmt::format(
            "{}",
            fmt::join(axes.names_of(axes.group_of(other, other.computations[0].instructions[1])),
                      " "));
    };
    EXPECT_EQ(names("[4,2]<=[2,4]T(1,0)"), "devices/4");
    EXPECT_EQ(names("{{0,1,2,3},{4,5,6,7}}"), "devices%4");
    EXPECT_EQ(names("{}"), "devices/4 devices%4");
    EXPECT_EQ(names("[8,1]<=[8]"), "");
}

TEST(HloDeviceAxes, PermutesAreShifts) {
    const auto shift = [](const std::string& pairs, std::int64_t devices) {
        const Module module = with({}, {pairs});
        const DeviceAxes axes(module, devices, {});
        const RankShift found = axes.shift_of(module, module.computations[0].instructions[1]);
        std::string text = fmt::format("{}{}", found.shift, found.closed ? "" : " open");
        for (const Digit& digit : found.digits) {
            text += fmt::format(" {}x{}", digit.length, digit.stride);
        }
        return text;
    };
    EXPECT_EQ(shift("{{0,1},{1,2},{2,3},{3,0}}", 4), "1 4x1");
    EXPECT_EQ(shift("{{1,0},{2,1},{3,2},{0,3}}", 4), "3 4x1");
    EXPECT_EQ(shift("{{0,2},{2,0},{1,3},{3,1}}", 4), "1 2x2");
    EXPECT_EQ(shift("{{0,1},{1,0},{2,3},{3,2}}", 4), "1 2x1");
    EXPECT_EQ(shift("{{0,2},{1,3},{2,4},{3,5},{4,0},{5,1}}", 6), "1 3x2");
    EXPECT_EQ(shift("{{0,2},{1,3},{2,0},{3,1}}", 4), "1 2x2");
    EXPECT_EQ(shift("{{0,1},{1,2},{2,3}}", 4), "1 open 4x1");
    EXPECT_EQ(shift("{{0,4},{1,5},{2,6},{3,7}}", 8), "1 open 2x4");
    EXPECT_EQ(shift("{{0,0},{1,1}}", 2), "0");
}

std::string axes_error(const Module& module, std::int64_t devices,
                       std::vector<std::pair<std::string, std::int64_t>> axes = {}) {
    try {
        const DeviceAxes made(module, devices, std::move(axes));
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(HloDeviceAxes, WhatLiesAlongNoMesh) {
    EXPECT_EQ(axes_error(with({"{{0,1,2},{3}}"}), 4),
              "m.txt:3:2: 'r0': its groups are not regular among 4 devices: {{0,1,2},{3}}; podsim "
              "plays groups along the axes of a mesh");
    EXPECT_EQ(axes_error(with({}, {"{{0,1},{1,3},{3,2},{2,0}}"}), 4),
              "m.txt:3:2: 'p0': its pairs are no shift along an axis of a mesh: "
              "{{0,1},{1,3},{3,2},{2,0}}; podsim plays permutes that shift along an axis");
    EXPECT_EQ(
        axes_error(with({"[3,2]<=[6]", "[2,3]<=[6]"}), 6),
        "m.txt:4:2: 'r1': groups do not lie along the axes of one mesh: some begin at a stride of "
        "2 devices, others at 3");
    EXPECT_EQ(axes_error(with({}), 8, {{"a", 2}, {"b", 2}}),
              "the mesh has 4 devices, the module runs on 8");
}

}  // namespace
}  // namespace podsim::workloads::hlo
