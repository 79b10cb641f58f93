#include "tests/house/source_files.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "tests/checkout.h"

namespace podsim::house {

std::vector<std::string> read_lines(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path.string());
    }
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::vector<SourceFile> source_files(const std::string& folder) {
    const std::filesystem::path top(source_folder());
    std::vector<SourceFile> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top / folder)) {
        const std::filesystem::path& path = entry.path();
        if (path.extension() == ".h" || path.extension() == ".cpp") {
            files.push_back({path.lexically_relative(top).generic_string(), read_lines(path)});
        }
    }
    std::ranges::sort(files, {}, &SourceFile::path);
    return files;
}

std::vector<std::string> lines_where(const std::string& folder,
                                     const std::function<bool(const std::string& line)>& wrong) {
    std::vector<std::string> found;
    for (const SourceFile& file : source_files(folder)) {
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            if (wrong(file.lines[i])) {
                found.push_back(file.path + ':' + std::to_string(i + 1) + ": " + file.lines[i]);
            }
        }
    }
    return found;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += "\n  " + line;
    }
    return text;
}

}  // namespace podsim::house
