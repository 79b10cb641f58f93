// Support of the fuzz targets: files without a disk, for readers that take paths.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace podsim::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// A file in memory that holds a text for the lifetime of this object.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view text) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
        while (!text.empty()) {
            const ssize_t written = write(descriptor_, text.data(), text.size());
            if (written <= 0) {
                __builtin_trap();
            }
            text.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    ~MemoryFile() { close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    [[nodiscard]] std::string path() const {
        return "/proc/self/fd/" + std::to_string(descriptor_);
    }

private:
    int descriptor_;
};

/// Traps if a property does not hold, which must hold for any input.
inline void must(bool holds) {
    if (!holds) {
        __builtin_trap();
    }
}

}  // namespace podsim::fuzz
