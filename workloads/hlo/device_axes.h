// The devices of a module as a mesh: axes, slowest first, along which every group of every
// collective lies. Their product is the number of devices.
//
// Device numbers count through a mesh, the last axis fastest, as JAX's mesh.devices.flatten() does.
// A group that XLA writes as [64,2]<=[2,64]T(1,0) has stride 64 and length 2. It lies along an axis
// if 64 and 128 are products of the sizes of the last axes. The axes are therefore cut at the ends
// of all digits (hlo/device_groups.h).
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
    std::int64_t stride = 1;  ///< in device numbers
};

/// A permute in which every member's shard goes `shift` ranks further along the digits.
struct RankShift {
    std::vector<Digit> digits;
    std::int64_t shift = 0;
    /// True if the last ranks send to the first.
    bool closed = true;
};

class DeviceAxes {
public:
    /// `axes` are those of the user's mesh, name and size, slowest first; if there are none, one
    /// axis has all devices. The module has to outlive this object. Throws sim::InputError if the
    /// axes have another number of devices, and if groups are not regular or do not lie along any
    /// mesh of nested axes.
    DeviceAxes(const Module& module, std::int64_t devices,
               std::vector<std::pair<std::string, std::int64_t>> axes);

    [[nodiscard]] std::int64_t devices() const { return devices_; }
    /// Returns the axes, slowest first. Factors of one of the user's axes are named `fsdp/4` (the
    /// slow one, if the fast one has 4 members) and `fsdp%4`.
    [[nodiscard]] const std::vector<DeviceAxis>& axes() const { return axes_; }
    /// Returns the factors of each of the user's axes, as indices of axes().
    [[nodiscard]] const std::vector<std::vector<std::size_t>>& parts() const { return parts_; }
    /// Returns the axes along which a group of `digits` lies, slowest first.
    [[nodiscard]] std::vector<std::string> names_of(const std::vector<Digit>& digits) const;

    /// Returns the digits of the groups of the collective `at`. Throws sim::InputError if they are
    /// not regular.
    [[nodiscard]] std::vector<Digit> group_of(const Module& module, const Instruction& at) const;
    /// Returns the shift of the permute `at`. Throws sim::InputError if its pairs are none.
    [[nodiscard]] RankShift shift_of(const Module& module, const Instruction& at) const;

private:
    void cut(const Module& module, std::vector<std::pair<std::string, std::int64_t>> axes);
    [[nodiscard]] RankShift read_shift(const Module& module, const Instruction& at,
                                       Budget& budget) const;

    std::int64_t devices_;
    DeviceCounts counts_;
    std::vector<DeviceAxis> axes_;
    std::vector<std::vector<std::size_t>> parts_;
    /// Shifts of the module's permutes.
    std::map<const Instruction*, RankShift> shifts_;
};

}  // namespace podsim::workloads::hlo
