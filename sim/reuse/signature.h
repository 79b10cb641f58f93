// A sequence of numbers, to be compared with others as a whole.
#pragma once

#include <cstdint>
#include <vector>

namespace podsim::sim {

/// Numbers one after the other, each in as few bytes as it needs (seven bits a byte, lowest first): equal bytes are
/// equal sequences.
class Signature {
public:
    void push_back(std::int64_t value) {
        // Small numbers of either sign become small: 0, -1, 1, -2, ...
        auto rest =
            static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
        for (; rest >= 0x80; rest >>= 7) {
            bytes_.push_back(static_cast<std::uint8_t>(rest | 0x80));
        }
        bytes_.push_back(static_cast<std::uint8_t>(rest));
    }
    /// As many as the numbers pushed before say: bytes alone do not tell where they end.
    void append(const std::vector<std::uint8_t>& bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }
    /// Takes no more memory than it needs.
    void shrink() { bytes_.shrink_to_fit(); }
    [[nodiscard]] std::size_t size_in_bytes() const { return bytes_.size(); }

    friend bool operator==(const Signature&, const Signature&) = default;

private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace podsim::sim
