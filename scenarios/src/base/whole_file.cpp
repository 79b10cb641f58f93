#include "scenarios/src/base/whole_file.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/src/base/file_error.h"
#include "sim/base/error.h"

namespace podsim::scenarios {
namespace {

/// Returns the process that holds the file, from the kernel's list of locks: `1: FLOCK  ADVISORY
/// WRITE 4711 fe:00:1234 0 EOF` has the process and the inode. The list does not have other
/// machines and containers.
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

/// Locks the file; if another process holds it, closes the descriptor and throws. `operation` is
/// LOCK_EX or LOCK_SH, `holder` a text such as `another sweep`.
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

namespace fs = std::filesystem;

constexpr mode_t kUsualMode = 0666;  // reduced by the umask

bool is_of_the_system(const std::string& path) {
    const std::string full = fs::absolute(path).lexically_normal().string();
    return full.starts_with("/dev/") || full.starts_with("/proc/");
}

std::string folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): handlers have no arguments
std::atomic<int> being_named;

/// Blocks signals from the moment that the file has a temporary name until it is in place, so that
/// nothing ends the program in between.
class Naming {
public:
    Naming() {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, &before_);
        ++being_named;
    }
    ~Naming() {
        --being_named;
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    Naming(const Naming&) = delete;
    Naming& operator=(const Naming&) = delete;

private:
    sigset_t before_{};
};

std::string of_descriptor(int descriptor) {
    return fmt::format("/proc/self/fd/{}", descriptor);
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

std::string behind_links(const std::string& path) {
    constexpr int kMostLinks = 40;  // as in the kernel
    fs::path target = path;
    std::error_code unknown;
    for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(target, unknown)) &&
                        !is_of_the_system(target.string());
         ++links) {
        const fs::path next = fs::read_symlink(target, unknown);
        target = next.is_absolute() ? next : target.parent_path() / next;
    }
    return target.string();
}

bool a_file_is_being_named() {
    return being_named != 0;
}

WholeFile::WholeFile(std::string_view option, const std::string& path)
    : option_(option), path_(path), target_(behind_links(path)) {
    struct stat there {};
    replaces_ = ::stat(target_.c_str(), &there) == 0;
    if (replaces_ && S_ISREG(there.st_mode)) {
        refuse_held(option_, path_);
    }
    errno = 0;
    if (!is_of_the_system(target_) && (!replaces_ || S_ISREG(there.st_mode))) {
        begin_beside();
        if (beside_.empty() && !replaces_) {
            throw cannot_write(option_, path_, errno);
        }
    }
    if (beside_.empty()) {
        errno = 0;
        stream_.open(path_, std::ios::binary);
    } else if (replaces_) {
        ::chmod(nameless_ >= 0 ? of_descriptor(nameless_).c_str() : beside_.c_str(),
                there.st_mode & ALLPERMS);
    }
    if (!stream_) {
        throw cannot_write(option_, path_, errno);
    }
    errno = 0;  // later errors of the stream set it
}

/// Leaves `beside_` empty, and sets errno, if no file can be made there.
void WholeFile::begin_beside() {
    const std::string name =
        fmt::format("{}/.podsim.{}.{}", folder_of(target_), ::getpid(), fmt::ptr(this));
    const int descriptor =
        ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kUsualMode);
    if (descriptor >= 0) {
        stream_.open(of_descriptor(descriptor), std::ios::binary);
        if (stream_) {
            nameless_ = descriptor;
            beside_ = name;
            return;
        }
        ::close(descriptor);
        stream_.clear();
    }
    errno = 0;
    stream_.open(name, std::ios::binary);
    if (stream_) {
        beside_ = name;
    } else {
        stream_.clear();
    }
}

WholeFile::~WholeFile() {
    if (nameless_ >= 0) {
        ::close(nameless_);
    } else if (!beside_.empty()) {
        ::unlink(beside_.c_str());
    }
}

void WholeFile::name_it() {
    const int linked = ::linkat(AT_FDCWD, of_descriptor(nameless_).c_str(), AT_FDCWD,
                                beside_.c_str(), AT_SYMLINK_FOLLOW);
    if (linked != 0) {
        throw cannot_write(option_, path_, errno);
    }
}

void WholeFile::keep() {
    stream_.close();
    if (!stream_) {
        throw cannot_write(option_, path_, errno);
    }
    if (beside_.empty()) {
        return;
    }
    if (replaces_) {
        const int descriptor =
            nameless_ >= 0 ? ::dup(nameless_) : ::open(beside_.c_str(), O_WRONLY | O_CLOEXEC);
        const bool written = ::fdatasync(descriptor) == 0;
        const int reason = errno;
        ::close(descriptor);
        if (!written) {
            throw cannot_write(option_, path_, reason);
        }
    }
    const Naming naming;
    if (nameless_ >= 0) {
        name_it();
    }
    if (std::rename(beside_.c_str(), target_.c_str()) != 0) {
        const int reason = errno;
        ::unlink(beside_.c_str());
        throw cannot_write(option_, path_, reason);
    }
    if (nameless_ < 0) {
        beside_.clear();
    }
}

}  // namespace podsim::scenarios
