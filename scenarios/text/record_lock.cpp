#include "scenarios/text/record_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/text/file_error.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Who holds the file, by the kernel's list of locks: `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`, the process and the
/// inode. Other machines and containers are not in it.
std::string holder_of(ino_t inode) {
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        std::istringstream words(line);
        std::string number;
        std::string kind;
        std::string advisory;
        std::string access;
        long process = 0;
        std::string file;
        if (!(words >> number >> kind >> advisory >> access >> process >> file) ||
            kind != "FLOCK" || process <= 0 || !file.ends_with(fmt::format(":{}", inode))) {
            continue;
        }
        char host[256] = {};
        ::gethostname(host, sizeof host - 1);
        return fmt::format("process {} on {}", process, host);
    }
    return "a process of another machine or container";
}

/// Closes the descriptor and throws where another holds its file; `operation`: LOCK_EX or LOCK_SH, `holder`: `another sweep`.
void lock_or_refuse(int descriptor, int operation, const std::string& holder,
                    std::string_view option, const std::string& path) {
    if (::flock(descriptor, operation | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
        return;
    }
    struct stat there {};
    ::fstat(descriptor, &there);
    ::close(descriptor);
    throw sim::InputError(fmt::format("{} writes this record: {}", holder, holder_of(there.st_ino)),
                          fmt::format("wait for its end, or give {} another path", option),
                          {path, 0, 0});
}

}  // namespace

void refuse_held(std::string_view option, const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) {
        lock_or_refuse(descriptor, LOCK_SH, "a sweep or a search", option, path);
        ::close(descriptor);
    }
}

RecordLock::RecordLock(const std::string& path, std::string_view writer) {
    struct stat there {};
    if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
        return;
    }
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
        throw cannot_write("--jsonl", path, errno);
    }
    lock_or_refuse(descriptor_, LOCK_EX, fmt::format("another {}", writer), "--jsonl", path);
}

RecordLock::~RecordLock() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

}  // namespace podsim::scenarios
