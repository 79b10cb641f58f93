// A name for texts that is the same on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <string>

namespace podsim::scenarios {

/// Returns the 64-bit FNV-1a of the texts, each closed by a zero, as 16 hexadecimal digits.
inline std::string fingerprint_of(std::span<const std::string> texts) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
    for (const std::string& text : texts) {
        std::ranges::for_each(text, add);
        add(0);
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace podsim::scenarios
