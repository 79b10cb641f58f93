#include "scenarios/watch/control_group.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace podsim::scenarios {
namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

/// Whether a list as `cpu,cpuacct` has the controller.
bool has(const std::string& controllers, std::string_view controller) {
    std::istringstream list(controllers);
    for (std::string each; std::getline(list, each, ',');) {
        if (each == controller) {
            return true;
        }
    }
    return false;
}

/// The first two words of a file, or of two files with one each.
double quota_of(const std::string& quota, const std::string& period) {
    double allowed = 0;
    double of = 0;
    // `max` and -1 are no quota.
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

}  // namespace

std::vector<std::string> control_groups(std::string_view controller, const std::string& root) {
    std::vector<std::string> folders;
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        // `0::/a/b` is v2, `4:cpu,cpuacct:/a/b` v1.
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
        // A container may see the path of its host, whose folders it lacks, and has its own at the top.
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

}  // namespace podsim::scenarios
