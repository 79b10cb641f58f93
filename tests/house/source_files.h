// The project's own source files, as text.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace podsim::house {

struct SourceFile {
    std::string path;  ///< from the top folder, with /
    std::vector<std::string> lines;
};

/// Returns the *.h and *.cpp files of a folder and below, sorted by path.
std::vector<SourceFile> source_files(const std::string& folder);

/// Returns the lines of a text file. Throws std::runtime_error if it cannot be read.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Returns `file:line: text` of every line of a folder for which `wrong` holds.
std::vector<std::string> lines_where(const std::string& folder,
                                     const std::function<bool(const std::string& line)>& wrong);

/// Returns each line on a separate line, indented, for messages.
std::string joined(const std::vector<std::string>& lines);

}  // namespace podsim::house
