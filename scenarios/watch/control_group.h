// What the control groups of this process leave it: a container's limits, or those of a batch system.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podsim::scenarios {

/// The folders of a controller (`cpu`, `memory`) for the process's own group and for those above it, of cgroup v2 and v1: /proc/self/cgroup
/// says the groups, /sys/fs/cgroup has their files. `root` stands before both, for tests.
std::vector<std::string> control_groups(std::string_view controller, const std::string& root = "");

/// Processors whose time these groups may take (cpu.max; cpu.cfs_quota_us and cpu.cfs_period_us of v1), the least of all; infinite without a
/// quota.
double cpu_quota(const std::string& root = "");

}  // namespace podsim::scenarios
