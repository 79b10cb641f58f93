// One writer a record.
#pragma once

#include <string>
#include <string_view>

namespace podsim::scenarios {

/// Holds the file at a path, by whatever name others know it, until its end or that of the process (flock): of a killed sweep
/// nothing is left that would have to be removed. Makes the file where there is none. Pipes and devices are not held, nor files
/// of a file system without locks.
class RecordLock {
public:
    /// Throws sim::InputError where another holds it, with that process where this machine knows it; cannot_write. `writer` is what
    /// such records are of: `sweep`, `search`.
    RecordLock(const std::string& path, std::string_view writer);
    ~RecordLock();
    RecordLock(const RecordLock&) = delete;
    RecordLock& operator=(const RecordLock&) = delete;

private:
    int descriptor_ = -1;
};

/// For who would replace the file at a path, which `option` names: throws sim::InputError where another process holds it.
void refuse_held(std::string_view option, const std::string& path);

}  // namespace podsim::scenarios
