#include "scenarios/scenario_files.h"

#include <algorithm>
#include <filesystem>

namespace podsim::scenarios {

namespace fs = std::filesystem;

std::vector<std::string> scenario_files(const std::string& folder) {
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        const std::string extension = entry.path().extension().string();
        if ((extension == ".yaml" || extension == ".yml") && entry.is_regular_file()) {
            files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> library_candidates() {
    std::vector<std::string> folders = {"scenarios"};
    std::error_code unknown;
    fs::path above = fs::read_symlink("/proc/self/exe", unknown).parent_path();
    constexpr int kLevels = 4;  // build/release/podsim lies two below the repository
    for (int level = 0; level < kLevels && !above.empty(); ++level) {
        folders.push_back((above / "scenarios").string());
        if (above == above.parent_path()) {
            break;
        }
        above = above.parent_path();
    }
    return folders;
}

}  // namespace podsim::scenarios
