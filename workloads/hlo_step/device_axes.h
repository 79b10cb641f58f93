// The devices of a module as a mesh: axes, slowest first, whose product is all of them, so that every group of every collective lies
// along whole axes.
//
// Device numbers count through a mesh, the last axis fastest, as JAX's mesh.devices.flatten() does. A group that XLA writes as
// [64,2]<=[2,64]T(1,0) has stride 64 and length 2: it lies along an axis if the products of the axes behind it meet at 64 and at 128.
// So the axes are cut at the ends of all digits (hlo/device_groups.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/hlo/budget.h"
#include "workloads/hlo/device_counts.h"
#include "workloads/hlo/module.h"

namespace podsim::workloads::hlo {

struct DeviceAxis {
    std::string name;
    std::int64_t size = 1;
    std::int64_t stride = 1;  ///< of device numbers
};

/// A permute as every member's share going `shift` ranks further along some digits.
struct RankShift {
    std::vector<Digit> digits;
    std::int64_t shift = 0;
    bool closed = true;  ///< the last ones send to the first
};

class DeviceAxes {
public:
    /// `axes`: of the user's mesh, name and size, slowest first; none: one axis of all. The module has to outlive it. Throws sim::InputError
    /// where they are not as many devices, and where groups are not regular or do not lie along any mesh of nested axes.
    DeviceAxes(const Module& module, std::int64_t devices,
               std::vector<std::pair<std::string, std::int64_t>> axes);

    [[nodiscard]] std::int64_t devices() const { return devices_; }
    /// Slowest first. Parts of one of the user's axes are named `fsdp/4` (the slow one, with 4 members of the other) and `fsdp%4`.
    [[nodiscard]] const std::vector<DeviceAxis>& axes() const { return axes_; }
    /// Parts of each of the user's axes, as indices of axes().
    [[nodiscard]] const std::vector<std::vector<std::size_t>>& parts() const { return parts_; }
    /// The axes along which a group of those digits lies, slowest first.
    [[nodiscard]] std::vector<std::string> names_of(const std::vector<Digit>& digits) const;

    /// Who takes part in the collective `at`. Throws sim::InputError where its groups are not regular.
    [[nodiscard]] std::vector<Digit> group_of(const Module& module, const Instruction& at) const;
    /// The same of a permute.
    [[nodiscard]] RankShift shift_of(const Module& module, const Instruction& at) const;

private:
    void cut(const Module& module, std::vector<std::pair<std::string, std::int64_t>> axes);
    [[nodiscard]] RankShift read_shift(const Module& module, const Instruction& at,
                                       Budget& budget) const;

    std::int64_t devices_;
    DeviceCounts counts_;
    std::vector<DeviceAxis> axes_;
    std::vector<std::vector<std::size_t>> parts_;
    std::map<const Instruction*, RankShift> shifts_;  ///< of the permutes of the module
};

}  // namespace podsim::workloads::hlo
