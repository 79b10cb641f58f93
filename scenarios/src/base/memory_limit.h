// Limits the memory of this process: a run that wants more ends with std::bad_alloc instead of
// taking the machine down.
#pragma once

#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

namespace podsim::scenarios {

/// Returns the folders of a controller (`cpu`, `memory`) for the process's own group and for those
/// above it, of cgroup v2 and v1. /proc/self/cgroup names the groups, /sys/fs/cgroup has their
/// files. `root` precedes both paths, for tests.
std::vector<std::string> control_groups(std::string_view controller, const std::string& root = "");

/// Returns the number of processors whose time these groups may use (cpu.max; cpu.cfs_quota_us and
/// cpu.cfs_period_us of v1), the smallest of all groups; infinite without a quota.
double cpu_quota(const std::string& root = "");

/// Returns the bytes of data that this process may have now (RLIMIT_DATA); infinite without a
/// limit.
double memory_limit();

/// Returns the bytes of address space that this process may still map (RLIMIT_AS, `ulimit -v`);
/// infinite without a limit.
double address_space_left();

/// Returns four fifths of the machine's free memory or, if that is less, of what the control group
/// (cgroup v2) or the address space leaves; infinite if none is known.
double usual_memory_limit();

/// Sets the limit for its own lifetime. Has no effect if the limit is infinite or the system
/// refuses it.
class MemoryLimit {
public:
    explicit MemoryLimit(double bytes);
    ~MemoryLimit();
    MemoryLimit(const MemoryLimit&) = delete;
    MemoryLimit& operator=(const MemoryLimit&) = delete;

private:
    rlimit before_{};
};

}  // namespace podsim::scenarios
