// The default of --jobs in a container: quotas of control groups, from files like a kernel's.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <string>

#include "scenarios/src/base/memory_limit.h"
#include "scenarios/src/base/threads.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class CpuQuota : public CommandTest {
protected:
    void put(const std::string& file, const std::string& text) {
        const std::filesystem::path at = path("root") + file;
        std::filesystem::create_directories(at.parent_path());
        std::ofstream(at) << text;
    }
    [[nodiscard]] double quota() const { return cpu_quota(path("root")); }
};

constexpr double kNone = std::numeric_limits<double>::infinity();

TEST_F(CpuQuota, OfVersionTwoIsTheLeastOfAllGroups) {
    EXPECT_EQ(quota(), kNone);
    put("/proc/self/cgroup", "0::/kube/pod/box\n");
    EXPECT_EQ(quota(), kNone);
    put("/sys/fs/cgroup/kube/pod/box/cpu.max", "max 100000\n");
    EXPECT_EQ(quota(), kNone);
    put("/sys/fs/cgroup/kube/pod/cpu.max", "250000 100000\n");
    EXPECT_DOUBLE_EQ(quota(), 2.5);
    put("/sys/fs/cgroup/kube/pod/box/cpu.max", "50000 100000\n");
    EXPECT_DOUBLE_EQ(quota(), 0.5);
    EXPECT_EQ(available_jobs(path("root")), 1);
    for (const char* const bad : {"", "x", "100000", "-1 100000", "100000 0", "1 x"}) {
        put("/sys/fs/cgroup/kube/pod/box/cpu.max", bad);
        EXPECT_DOUBLE_EQ(quota(), 2.5) << bad;
    }
}

// In a container's own namespace the group is at the top.
TEST_F(CpuQuota, IsReadAtTheTop) {
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    EXPECT_DOUBLE_EQ(quota(), 2);
    EXPECT_LE(available_jobs(path("root")), 2);
}

TEST_F(CpuQuota, OfVersionOneIsTheControllers) {
    put("/proc/self/cgroup", "12:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/docker/1\n");
    put("/sys/fs/cgroup/memory/docker/1/cpu.cfs_quota_us", "1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota(), kNone);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
    EXPECT_DOUBLE_EQ(quota(), 3);
    put("/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "150000\n");
    put("/sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n");
    EXPECT_DOUBLE_EQ(quota(), 1.5);
    EXPECT_LE(available_jobs(path("root")), 2);
}

}  // namespace
}  // namespace podsim::scenarios
