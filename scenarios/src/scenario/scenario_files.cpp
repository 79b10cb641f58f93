#include "scenarios/src/scenario/scenario_files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "sim/base/error.h"

namespace podsim::scenarios {

namespace fs = std::filesystem;

std::vector<std::string> scenario_files(const std::string& folder) {
    std::vector<std::string> files;
    try {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
            const std::string extension = entry.path().extension().string();
            if ((extension == ".yaml" || extension == ".yml") && entry.is_regular_file()) {
                files.push_back(entry.path().string());
            }
        }
    } catch (const fs::filesystem_error& error) {
        throw sim::InputError(
            fmt::format("cannot read a folder in {}: {}", folder, error.code().message()),
            "check its permissions, or name files");
    }
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> library_candidates() {
    std::vector<std::string> folders = {"scenarios"};
    std::error_code unknown;
    const fs::path beside = fs::read_symlink("/proc/self/exe", unknown).parent_path();
    fs::path above = beside;
    constexpr int kLevels = 4;  // build/release/podsim is two levels below the repository
    for (int level = 0; level < kLevels && !above.empty(); ++level) {
        folders.push_back((above / "scenarios").string());
        if (above == above.parent_path()) {
            break;
        }
        above = above.parent_path();
    }
    folders.push_back((beside / PODSIM_LIBRARY).lexically_normal().string());  // installed
    return folders;
}

std::vector<ScenarioSource> files_of(std::span<const ScenarioSource> named) {
    std::vector<ScenarioSource> files;
    for (const ScenarioSource& source : named) {
        if (source.text || !std::filesystem::is_directory(source.file)) {
            files.push_back(source);
            continue;
        }
        const std::vector<std::string> found = scenario_files(source.file);
        if (found.empty()) {
            throw sim::InputError("this folder holds no *.yaml file", "name a folder of scenarios",
                                  {source.file, 0, 0});
        }
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

}  // namespace podsim::scenarios
