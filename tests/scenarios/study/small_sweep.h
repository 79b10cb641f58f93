// A sweep of six settings that is fast to simulate.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/base/checked_line.h"

namespace podsim::scenarios::small_sweep {

/// Two layers on 8 chips.
inline constexpr const char* kSmall =
    "name: small\n"
    "hardware: {chip: v5p, slice: 2x2x2}\n"
    "model: {base: llama-3-8b, layers: 2}\n"
    "batch: {tokens: 32Ki, sequence: 4096}\n"
    "mesh: {fsdp: x y z}\n";

/// Six settings, of which the two of 3Ki tokens are refused: less than a sequence.
inline const std::vector<std::string> kVary = {"--vary", "batch.tokens=32Ki,3Ki,64Ki", "--vary",
                                               "training.remat=block,none"};

inline std::vector<std::string> with(std::vector<std::string> args,
                                     const std::vector<std::string>& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

inline std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Returns the lines of a record without their checks, as older releases wrote them.
inline std::string unchecked(const std::string& record) {
    std::istringstream lines(record);
    std::string all;
    for (std::string line; std::getline(lines, line);) {
        const std::string_view plain = without_check(line);
        all += std::string(plain) + (plain.size() < line.size() ? "}\n" : "\n");
    }
    return all;
}

/// Returns the same with checks that match the current lines.
inline std::string checked_anew(const std::string& record) {
    std::istringstream lines(unchecked(record));
    std::string all;
    for (std::string line; std::getline(lines, line);) {
        all += with_check(line) + "\n";
    }
    return all;
}

}  // namespace podsim::scenarios::small_sweep
