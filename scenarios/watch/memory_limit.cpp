#include "scenarios/watch/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

#include "scenarios/watch/control_group.h"

namespace podsim::scenarios {
namespace {

constexpr double kShare = 0.8;
constexpr double kMost = 1e18;  ///< that a limit can say
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

/// MemAvailable of /proc/meminfo, in bytes.
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

/// The number in a file of the process's own control group; infinite where there is none (`max`).
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

/// What the process has mapped, in bytes: the first number of /proc/self/statm, in pages.
double mapped() {
    std::ifstream file("/proc/self/statm");
    double pages = 0;
    return file >> pages ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

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
        limit.rlim_cur = std::min(static_cast<rlim_t>(std::min(bytes, kMost)), before_.rlim_max);
        ::setrlimit(RLIMIT_DATA, &limit);
    }
}

MemoryLimit::~MemoryLimit() {
    ::setrlimit(RLIMIT_DATA, &before_);
}

}  // namespace podsim::scenarios
