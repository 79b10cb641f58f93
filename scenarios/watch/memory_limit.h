// How much memory this process may take: a run that wants more ends with std::bad_alloc, and not with the machine.
#pragma once

#include <sys/resource.h>

namespace podsim::scenarios {

/// Bytes of data that this process may have (RLIMIT_DATA), at the moment; infinite without a limit.
double memory_limit();

/// Bytes of address space that this process may still map (RLIMIT_AS, `ulimit -v`); infinite without a limit.
double address_space_left();

/// Four fifths of what the machine has free, or what the process's control group (cgroup v2) or its address space leaves, if that is less; infinite where none is known.
double usual_memory_limit();

/// Sets the limit while it lives. Where it is infinite, or the system does not let it, nothing changes.
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
