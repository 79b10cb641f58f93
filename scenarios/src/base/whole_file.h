// Files that exist whole or not at all, however their writer ends.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace podsim::scenarios {

/// Holds the file at a path, under all of its names, until its own end or that of the process
/// (flock): a killed sweep leaves nothing that must be removed. Creates the file if there is none.
/// Pipes and devices are not held, nor files of a file system without locks.
class RecordLock {
public:
    /// Throws sim::InputError if another process holds the file, with that process if this machine
    /// knows it; throws cannot_write. `writer` names the command that writes the records: `sweep`,
    /// `search`.
    RecordLock(const std::string& path, std::string_view writer);
    ~RecordLock();
    RecordLock(const RecordLock&) = delete;
    RecordLock& operator=(const RecordLock&) = delete;

private:
    int descriptor_ = -1;
};

/// Throws sim::InputError if another process holds the file at a path, which `option` names. Called
/// before the file is replaced.
void refuse_held(std::string_view option, const std::string& path);

/// A file that is written beside its final path: without a name if the file system supports that
/// (O_TMPFILE), so that a killed writer leaves nothing; otherwise under a temporary name. keep()
/// renames it into place at once. A replaced file keeps its permissions, and a symbolic link
/// remains one; another hard link keeps the old content. If a file is replaced, the new one is on
/// the disk first (fdatasync), so that a crash of the machine leaves one of the two; a new file is
/// not waited for.
///
/// Pipes, devices and paths in /dev and /proc are written directly, and so is an existing file
/// beside which none can be made.
class WholeFile {
public:
    /// Writes to the path that `option` names. Throws cannot_write, and sim::InputError if another
    /// process writes a record there.
    WholeFile(std::string_view option, const std::string& path);
    /// Without keep() nothing has changed.
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    std::ofstream& stream() { return stream_; }
    /// Puts the file in place. Throws cannot_write if the data did not arrive completely.
    void keep();

private:
    void begin_beside();
    /// Gives the nameless file a name.
    void name_it();

    std::string option_;
    std::string path_;    ///< as given by the option
    std::string target_;  ///< behind its links
    /// Temporary name; empty if the file is written directly.
    std::string beside_;
    int nameless_ = -1;      ///< descriptor of a nameless file
    bool replaces_ = false;  ///< a file exists there
    std::ofstream stream_;
};

/// True while a whole file is moved into place; a program that ends now would leave the temporary
/// name.
bool a_file_is_being_named();

/// Returns the path to which the links at the end of `path` lead, even if nothing exists there.
std::string behind_links(const std::string& path);

}  // namespace podsim::scenarios
