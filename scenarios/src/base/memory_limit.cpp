#include "scenarios/src/base/memory_limit.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace podsim::scenarios {
namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

/// True if a list such as `cpu,cpuacct` has the controller.
bool has(const std::string& controllers, std::string_view controller) {
    std::istringstream list(controllers);
    for (std::string each; std::getline(list, each, ',');) {
        if (each == controller) {
            return true;
        }
    }
    return false;
}

/// Returns quota / period. Each is the first word of its text: two words of one file, or one of two
/// files.
double quota_of(const std::string& quota, const std::string& period) {
    double allowed = 0;
    double of = 0;
    // `max` and -1 mean no quota.
    return std::istringstream(quota) >> allowed && std::istringstream(period) >> of &&
                   allowed > 0 && of > 0
               ? allowed / of
               : kNoQuota;
}

std::string line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

constexpr double kShare = 0.8;
constexpr double kMostBytes = 1e18;  ///< that a limit can hold
constexpr double kInfinite = std::numeric_limits<double>::infinity();

// AddressSanitizer's own maps are larger than any limit.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kCanBeLimited = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kCanBeLimited = false;
#else
constexpr bool kCanBeLimited = true;
#endif
#else
constexpr bool kCanBeLimited = true;
#endif

/// Returns MemAvailable of /proc/meminfo in bytes.
double available() {
    constexpr double kBytesOfKb = 1024;
    std::ifstream file("/proc/meminfo");
    std::string name;
    double kilobytes = 0;
    for (std::string unit; file >> name >> kilobytes; std::getline(file, unit)) {
        if (name == "MemAvailable:") {
            return kilobytes * kBytesOfKb;
        }
    }
    return kInfinite;
}

/// Returns the number in a file of the process's own control group; infinite if there is none
/// (`max`).
double of_group(const std::string& folder, const char* name) {
    std::ifstream file(folder + '/' + name);
    double bytes = 0;
    return file >> bytes ? bytes : kInfinite;
}

double left_in_group() {
    const std::vector<std::string> groups = control_groups("memory");
    const double used = groups.empty() ? kInfinite : of_group(groups.front(), "memory.current");
    return used < kInfinite ? of_group(groups.front(), "memory.max") - used : kInfinite;
}

/// Returns the bytes that the process has mapped: the first number of /proc/self/statm, in pages.
double mapped() {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    return file >> pages ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

std::vector<std::string> control_groups(std::string_view controller, const std::string& root) {
    std::vector<std::string> folders;
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        // `0::/a/b` is of v2, `4:cpu,cpuacct:/a/b` of v1.
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool second_version = line.starts_with("0::");
        if (!second_version && !has(controllers, controller)) {
            continue;
        }
        const std::string top = root + "/sys/fs/cgroup" +
                                (second_version ? std::string() : '/' + std::string(controller));
        // A container may see its host's path, whose folders it lacks; its own group is at the top.
        std::filesystem::path group(line.substr(second + 1));
        for (; group.has_relative_path(); group = group.parent_path()) {
            folders.push_back(top + group.string());
        }
        folders.push_back(top);
    }
    return folders;
}

double cpu_quota(const std::string& root) {
    double least = kNoQuota;
    for (const std::string& folder : control_groups("cpu", root)) {
        const std::string both = line_of(folder + "/cpu.max");
        least = std::min({least, quota_of(both, both.substr(std::min(both.find(' '), both.size()))),
                          quota_of(line_of(folder + "/cpu.cfs_quota_us"),
                                   line_of(folder + "/cpu.cfs_period_us"))});
    }
    return least;
}

double address_space_left() {
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    return limit.rlim_cur == RLIM_INFINITY
               ? kInfinite
               : std::max(0.0, static_cast<double>(limit.rlim_cur) - mapped());
}

double memory_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_DATA, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? kInfinite : static_cast<double>(limit.rlim_cur);
}

double usual_memory_limit() {
    return kShare * std::max(0.0, std::min({available(), left_in_group(), address_space_left()}));
}

MemoryLimit::MemoryLimit(double bytes) {
    ::getrlimit(RLIMIT_DATA, &before_);
    if (kCanBeLimited && bytes < kInfinite) {
        rlimit limit = before_;
        limit.rlim_cur =
            std::min(static_cast<rlim_t>(std::min(bytes, kMostBytes)), before_.rlim_max);
        ::setrlimit(RLIMIT_DATA, &limit);
    }
}

MemoryLimit::~MemoryLimit() {
    ::setrlimit(RLIMIT_DATA, &before_);
}

}  // namespace podsim::scenarios
