#include "scenarios/text/whole_file.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/text/file_error.h"
#include "scenarios/text/record_lock.h"

namespace podsim::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kUsualMode = 0666;  // less the umask

bool is_of_the_system(const std::string& path) {
    const std::string full = fs::absolute(path).lexically_normal().string();
    return full.starts_with("/dev/") || full.starts_with("/proc/");
}

std::string folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? "." : folder.string();
}

std::atomic<int>
    being_named;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): handlers have no arguments

/// From the name beside a file's place to the file in its place: nothing ends the program meanwhile.
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

std::string behind_links(const std::string& path) {
    constexpr int kMostLinks = 40;  // as the kernel
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
    errno = 0;  // what is written from now on says why it does not arrive
}

/// Leaves `beside_` empty, and errno, where nothing can be made there.
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
