// Files that are there whole or not at all, however their writer ends.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace podsim::scenarios {

/// A file being written beside the one that it will be: without a name, where the file system has such files (O_TMPFILE), so that a
/// killed writer leaves nothing; else under a name of its own. keep() puts it in place at once (rename). What it replaces keeps
/// its permissions, a symbolic link stays one; another hard link keeps the old content. A file that is replaced is on the disk
/// before (fdatasync), so that a crash of the machine leaves one of the two; a new one is not waited for.
///
/// Written straight into are pipes, devices and what /dev and /proc name, and a file that stands where none can be
/// made beside it.
class WholeFile {
public:
    /// At the path that `option` names. Throws cannot_write, and sim::InputError where it is a record that another process writes.
    WholeFile(std::string_view option, const std::string& path);
    ~WholeFile();  ///< without keep() nothing has changed
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    std::ofstream& stream() { return stream_; }
    /// Throws cannot_write where not all of it arrived.
    void keep();

private:
    void begin_beside();
    /// Gives the file without a name one.
    void name_it();

    std::string option_;
    std::string path_;       ///< as the option has it
    std::string target_;     ///< where its links lead
    std::string beside_;     ///< a name until it is in place; empty: written straight
    int nameless_ = -1;      ///< its descriptor
    bool replaces_ = false;  ///< a file is there
    std::ofstream stream_;
};

/// Whether a file that is whole is just coming to its place, beside which its name would be left.
bool a_file_is_being_named();

/// The path that the links at the end of `path` lead to, whether or not something is there.
std::string behind_links(const std::string& path);

}  // namespace podsim::scenarios
