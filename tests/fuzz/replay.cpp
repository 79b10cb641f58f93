// Runs a fuzz target on the named files, and on those in the named folders: FILE|FOLDER ...
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

void replay(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::cerr << path.string() << '\n';  // the last path ended the target
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

}  // namespace

int main(int count, char** arguments) {
    int replayed = 0;
    for (int i = 1; i < count; ++i) {
        if (!fs::is_directory(arguments[i])) {
            replay(arguments[i]);
            ++replayed;
            continue;
        }
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(arguments[i])) {
            if (entry.is_regular_file()) {
                replay(entry.path());
                ++replayed;
            }
        }
    }
    std::cout << replayed << " inputs\n";
    return replayed > 0 ? 0 : 1;
}
